"""A race from the request to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..deploy.preparing import OnPreparing, unheard
from ..race.decisions import decisions
from ..race.events import Event, Sink
from ..race.preparation.contestants import beside_current
from ..race.preparation.places import places
from ..race.preparation.prepared import PreparedRace, prepared
from ..race.request.request import RaceRequest
from ..race.results.race import Race
from ..race.rounds import OpenCells
from ..race.runner import Decide, check_budget
from ..race.runner import run as run_race
from ..report.words.findings import warning
from ..report.words.outlook import estimate, outlook
from ..store import open_store
from .keeping import keepers, opening_of
from .resumed import ResumedRace, refuse_changed
from .strategies import strategist_of

if TYPE_CHECKING:
    from ..store.store import Store

__all__ = ["ReadyRace", "Shape", "ready_race", "run"]

Shape = Callable[[PreparedRace], PreparedRace]
"""Makes another race of one that was prepared."""


def run(
    request: RaceRequest,
    *,
    store: str | None = None,
    on_event: Sink | None = None,
    on_preparing: OnPreparing | None = None,
) -> Race:
    """Race what ``request`` asks for on this machine, and return the race.

    ``store`` is the URL of the store that keeps it, as in ``sqlite:///races.sqlite3``; without one it is kept
    nowhere. ``on_preparing`` hears what takes a while before the race, ``on_event`` what happens in it: see
    ``stackrace.race.events``. Ctrl-C ends the race early, and what was measured is returned, its ``ending`` being
    ``Ending.INTERRUPTED``. Raises a StackraceError whose message names the way out.
    """
    with (
        nullcontext() if store is None else open_store(store) as opened,
        ready_race(beside_current(request), opened, on_preparing or unheard) as ready,
    ):
        return ready.run(on_event or (lambda event: None))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyRace:
    """A race that can begin at once."""

    prepared: PreparedRace
    keepers: tuple[Sink, ...]
    """Who keeps it, in the order in which they hear events."""
    foretold: tuple[str, ...]
    """What is to be expected of it, one sentence each; nothing of a race that goes on."""
    open_cells: OpenCells | None
    """Chooses among the cells before each block."""
    decide: Decide = decisions
    """Says when the race's question is answered."""

    def run(self, shown: Sink) -> Race:
        """Race, and return the race; ``shown`` hears every event after it is kept.

        What an interruption leaves is kept and returned, its ending INTERRUPTED.
        """

        def tell(event: Event) -> None:
            for sink in (*self.keepers, shown):
                sink(event)

        ready = self.prepared
        return run_race(
            ready.plan,
            ready.place,
            tell,
            begun_s=ready.begun_s,
            open_cells=self.open_cells,
            decide=self.decide,
        )


@contextmanager
def ready_race(
    request: RaceRequest,
    store: Store | None,
    on_preparing: OnPreparing = unheard,
    *,
    resumed: ResumedRace | None = None,
    open_cells: OpenCells | None = None,
    shape: Shape | None = None,
    first: int | None = None,
) -> Iterator[ReadyRace]:
    """Prepare what ``request`` asks for, to be kept in ``store``; nothing is left running afterwards.

    ``resumed`` is the race that goes on, where this is no new one. ``shape`` makes another race of the one that was
    prepared, before anything is kept of it; one that tunes goes on as such by itself. ``first`` is as `prepared`
    has it. Raises InputError and its kin where there is nothing to race, when the budget does not hold a single
    block, or where ``resumed`` was raced otherwise.
    """
    strategist = None if resumed is None else strategist_of(resumed.race)
    if resumed is not None and strategist is not None:
        first = strategist.fewest(resumed.race)
    with _prepared(request, on_preparing, first) as fresh:
        if resumed is not None and strategist is not None:
            fresh = strategist.again(fresh, resumed.race)
        elif shape is not None:
            fresh = shape(fresh)
        opening = None if store is None else opening_of(fresh, store)
        if resumed is not None and opening is not None:
            refuse_changed(resumed, fresh.plan.race, opening)
        ahead, foretold = _foretold(fresh) if resumed is None else (_again(fresh, resumed.race), ())
        decide: Decide = decisions
        if (strategist := strategist_of(ahead.plan.race)) is not None:
            open_cells, decide = strategist.decisions(ahead)
        # before anything is kept of a race that will not be
        check_budget(ahead.plan, begun_s=ahead.begun_s, open_cells=open_cells)
        manifest = None if resumed is None else resumed.manifest
        kept = nullcontext(()) if store is None or opening is None else keepers(ahead, opening, store, manifest)
        with kept as sinks:
            yield ReadyRace(prepared=ahead, keepers=sinks, foretold=foretold, open_cells=open_cells, decide=decide)


def _prepared(
    request: RaceRequest, on_preparing: OnPreparing, first: int | None
) -> AbstractContextManager[PreparedRace]:
    if request.cluster is None:
        return prepared(request, on_preparing, first=first)
    return places().prepared(request, on_preparing, first=first)


def _foretold(fresh: PreparedRace) -> tuple[PreparedRace, tuple[str, ...]]:
    """Return the race with warnings and what is unusual of it among its notes, and all that is foretold."""
    warned = (*fresh.plan.race.notes, *map(warning, fresh.warnings))
    if (strategist := strategist_of(fresh.plan.race)) is not None:
        # what it says is in the answer, too
        return _noted(fresh, warned), strategist.outlook(fresh)
    foretold = (*fresh.limit, *outlook(fresh.plan, fresh.request, left_out=fresh.left_out))
    alone = estimate(fresh.plan, left_out=fresh.left_out)
    told = (*foretold, alone) if alone else foretold
    return _noted(fresh, (*warned, *foretold)), told


def _noted(fresh: PreparedRace, notes: tuple[str, ...]) -> PreparedRace:
    return replace(fresh, plan=replace(fresh.plan, race=replace(fresh.plan.race, notes=notes)))


def _again(fresh: PreparedRace, race: Race) -> PreparedRace:
    """Return ``race`` as it goes on; its budget pays neither for the block that was cut nor for preparing again."""
    return replace(fresh, plan=replace(fresh.plan, race=race), begun_s=time.monotonic() - race.elapsed_s)
