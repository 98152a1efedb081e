"""Opens a store: its folder, Django, the database, its tables brought up to date."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from ..base.errors import StoreError
from ..deploy.privileges import private_folder
from .address import VARIABLE, Address, SqliteFile, address_of, default_file

if TYPE_CHECKING:
    from .store import Store

__all__ = ["open_store"]


def open_store(url: str | None = None) -> Store:
    """Return the store at ``url``, made or upgraded if need be.

    Without ``url`` the environment variable STACKRACE_STORE decides, and without that it is
    ``stackrace/races.sqlite3`` in the user's data folder. Raises StoreError with a way out.
    """
    address = address_of(url)
    _need_folder(address)
    _make_private(address)

    from .settings import configure, connect  # Django is imported only now that results are wanted

    configure()
    alias = connect(address)

    from .store import Store  # its models can be imported only once Django is configured
    from .upgrade import bring_up_to_date

    bring_up_to_date(alias, address)
    return Store(alias, address)


def _make_private(address: Address) -> None:
    """Make a new file its owner's only, and the default one, whoever made it; SQLite's files beside it follow."""
    if not isinstance(address, SqliteFile):
        return
    with suppress(OSError):
        # what cannot be made, SQLite will say
        os.close(os.open(address.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with suppress(OSError):
        if address == default_file() and address.path.stat().st_mode & 0o077:
            address.path.chmod(0o600)


def _need_folder(address: Address) -> None:
    """Make the default file's folder; any other must exist, so that a mistyped URL makes nothing."""
    if not isinstance(address, SqliteFile):
        return
    folder = address.path.parent
    try:
        if address == default_file():
            private_folder(folder)
    except OSError as error:
        raise StoreError(
            f"store {address}: its folder cannot be made ({error.strerror}); set {VARIABLE} to another file"
        ) from error
    if not folder.is_dir():
        raise StoreError(
            f"store {address}: there is no folder {folder}; make it, or correct the URL "
            "(sqlite:////a starts at the root, sqlite:///a in the current folder)"
        )
