"""Results that are more than one stored race, by the features that make them: trends, comparisons, capacities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..base.errors import StoreError
from ..extensions import StoredResults, declared, load

if TYPE_CHECKING:
    from ..store.store import Store


class Source(Protocol):
    """A feature's results."""

    def names(self, store: Store) -> tuple[str, ...]:
        """Return the names of all results, in the order of a list."""

    def page(self, name: str, store: Store) -> str:
        """Return the HTML report of the result called ``name``, one of ``names``.

        Raises StackraceError if it can no longer be made.
        """


def result_names(store: Store) -> dict[StoredResults, tuple[str, ...]]:
    """Return the names of the results of each feature, without features that have none."""
    found = {kind: load(kind.import_path).names(store) for kind in declared(StoredResults)}
    return {kind: names for kind, names in found.items() if names}


def result_page(kind: str, name: str, store: Store) -> str:
    """Return the HTML report of a result, ``kind`` being the ``StoredResults.name`` of its feature.

    Raises StoreError if there is no such result.
    """
    for each in declared(StoredResults):
        source: Source = load(each.import_path)
        if each.name == kind and name in source.names(store):
            return source.page(name, store)
    raise StoreError(f"there is no {kind} called {name!r} here")
