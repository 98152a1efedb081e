"""A race from the request to its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from ..model.preparing import OnPreparing, unheard
from ..model.race import Race
from ..race.events import Event, Sink
from ..race.rounds import Still
from ..race.runner import check_budget
from ..race.runner import run as run_race
from ..report.words.findings import warning
from ..report.words.outlook import outlook
from ..setup.prepared import PreparedRace, prepared
from ..spec.request import RaceRequest
from ..store import open_store
from .former import Former, hold_to
from .keeping import kept, opening_of

if TYPE_CHECKING:
    from ..store.store import Store

__all__ = ["Show", "race", "run"]

Show = Callable[[PreparedRace, tuple[str, ...]], AbstractContextManager[Sink]]
"""Called with a race that is about to begin and what is foretold of it; the race runs inside the context, whose
value hears what happens."""


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
    sink: Sink = on_event or (lambda event: None)
    with nullcontext() if store is None else open_store(store) as kept_in:
        return race(request, kept_in, lambda ahead, foretold: nullcontext(sink), on_preparing or unheard)


def race(
    request: RaceRequest,
    store: Store | None,
    show: Show,
    on_preparing: OnPreparing = unheard,
    *,
    former: Former | None = None,
    still: Still | None = None,
) -> Race:
    """Prepare what ``request`` asks for, race it, keep it in ``store``, and return it.

    ``former`` is the race that goes on, where this is no new one; ``still`` chooses among the cells before each
    block. What an interruption leaves is kept and returned, its ending INTERRUPTED. Raises InputError and its kin
    where there is nothing to race, when the budget does not hold a single block, or where ``former`` was raced
    otherwise.
    """
    with prepared(request, on_preparing) as fresh:
        opening = None if store is None else opening_of(fresh, store)
        if former is not None and opening is not None:
            hold_to(former, fresh.race, opening)
        ahead, foretold = _foretold(fresh) if former is None else (_again(fresh, former.race), ())
        # before anything is kept of a race that will not be
        check_budget(ahead.plan, ahead.race, begun_s=ahead.begun_s, still=still)
        manifest = former.manifest if former is not None else None
        keeping = nullcontext(()) if store is None or opening is None else kept(ahead, opening, store, manifest)
        with keeping as keepers, show(ahead, foretold) as shown:

            def tell(event: Event) -> None:
                for sink in (*keepers, shown):
                    sink(event)

            return run_race(ahead.plan, ahead.race, ahead.place, tell, begun_s=ahead.begun_s, still=still)


def _foretold(fresh: PreparedRace) -> tuple[PreparedRace, tuple[str, ...]]:
    """Return the race with warnings and what is foretold of it among its notes, and what is foretold alone."""
    warned = (*fresh.race.notes, *map(warning, fresh.warnings))
    foretold = outlook(fresh.plan, fresh.request, left_out=fresh.left_out)
    return replace(fresh, race=replace(fresh.race, notes=(*warned, *foretold))), foretold


def _again(fresh: PreparedRace, race: Race) -> PreparedRace:
    """Return ``race`` as it goes on; its budget pays neither for the block that was cut nor for preparing again."""
    return replace(
        fresh, plan=replace(fresh.plan, id=race.id), race=race, begun_s=time.monotonic() - race.elapsed_s
    )
