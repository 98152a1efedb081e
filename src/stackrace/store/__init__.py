"""Results: every race, launch and slice in SQLite or PostgreSQL, each slice kept from the moment it ends.

Django is imported by ``open_store`` and nothing earlier, so importing this room costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .address import address_of

if TYPE_CHECKING:
    from .store import Store


def open_store(url: str | None = None) -> Store:
    """Return the store at ``url``, made if need be.

    Without ``url`` the environment variable STACKRACE_STORE decides, and without that it is
    ``stackrace/races.sqlite3`` in the user's data folder. Raises StoreError with a way out.
    """
    address = address_of(url)

    from .database import open_database  # Django is imported only now that results are wanted

    alias = open_database(address)

    from .store import Store  # its models can be imported only once Django is configured

    return Store(alias, address)
