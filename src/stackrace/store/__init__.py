"""Store of results: every race, launch and slice in SQLite or PostgreSQL, each slice kept from the moment it ends.

``open_store`` imports Django, and nothing earlier does, so importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .address import address_of

if TYPE_CHECKING:
    from .store import Store


def open_store(url: str | None = None) -> Store:
    """Return the store at ``url``; create it if it does not exist.

    Without ``url`` the environment variable STACKRACE_STORE decides, and without that it is
    ``stackrace/races.sqlite3`` in the user's data folder. Raise StoreError with a way out.
    """
    address = address_of(url)

    from .database import open_database  # imports Django, so not before results are wanted

    alias = open_database(address)

    from .store import Store  # its models can be imported only once Django is configured

    return Store(alias, address)
