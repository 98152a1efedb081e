"""A check from the request to its answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...deploy.environments import cache_folder
from ...deploy.preparing import OnPreparing, unheard
from ...race.events import Event, Sink
from ...race.preparation.leftovers import remembered
from ...race.results.race import Race
from ...race.runner import check_budget
from ...race.runner import run as run_race
from ...report.words.findings import warning
from ...store.recorder import StoreSink
from .answer import decide
from .prepared import CheckRequest, PreparedCheck, prepared_check

if TYPE_CHECKING:
    from ...store.store import Store

__all__ = ["ReadyCheck", "ready_check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCheck:
    """A check that can begin at once."""

    prepared: PreparedCheck
    keeper: Sink
    """Who keeps it."""

    def run(self, shown: Sink) -> Race:
        """Race until the check is answered, and return the race; ``shown`` hears every event after it is kept.

        What an interruption leaves is kept and returned, its ending INTERRUPTED.
        """

        def tell(event: Event) -> None:
            self.keeper(event)
            shown(event)

        ready = self.prepared
        return run_race(ready.plan, ready.race, ready.place, tell, begun_s=ready.begun_s, decide=decide)


@contextmanager
def ready_check(
    request: CheckRequest, store: Store | None, on_preparing: OnPreparing = unheard
) -> Iterator[ReadyCheck]:
    """Prepare what ``request`` asks for, to be kept in ``store``; nothing is left running afterwards.

    Raises InputError and its kin where there is nothing to compare, or one of the two cannot be raced.
    """
    with (
        prepared_check(request, on_preparing) as fresh,
        remembered(fresh.folders, cache_folder() / "checks"),
    ):
        notes = (*fresh.race.notes, *map(warning, fresh.warnings))
        ready = replace(fresh, race=replace(fresh.race, notes=notes))
        check_budget(ready.plan, ready.race, begun_s=ready.begun_s)
        yield ReadyCheck(prepared=ready, keeper=(lambda event: None) if store is None else StoreSink(store))
