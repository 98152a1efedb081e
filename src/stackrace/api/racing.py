"""A race from the request to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.revision import source_digest
from ..deploy.preparing import OnPreparing, ignore_step
from ..race.events import Sink
from ..race.preparation.contestants import with_current_deployment
from ..race.preparation.prepared import PreparedRace, is_elsewhere, machine_source, prepared
from ..race.request.request import RaceRequest
from ..race.results.race import Race
from ..race.run.resume import Checkpoint
from ..race.run.runner import check_budget, run_prepared
from ..race.run.scheduling import Scheduling
from ..race.run.strategist import Strategist, strategist_of
from ..report.words.findings import warning
from ..report.words.outlook import estimate, outlook
from ..store import open_store
from ..store.recorder import recorder
from .resuming import ResumedRace, refuse_changed, request_document

if TYPE_CHECKING:
    from ..store.store import Store

_Adapt = Callable[[PreparedRace], PreparedRace]


def run(
    request: RaceRequest,
    *,
    store: str | None = None,
    on_event: Sink | None = None,
    on_preparing: OnPreparing | None = None,
) -> Race:
    """Run the race of ``request`` on this machine, and return it.

    ``store`` is the URL of the store that keeps the race, as in ``sqlite:///races.sqlite3``; None: it is not kept.
    ``on_preparing`` receives the long steps before the race, ``on_event`` the events of the race: see
    ``stackrace.race.events``. Ctrl-C ends the race early, and the measurements so far are returned with the
    ``ending`` ``Ending.INTERRUPTED``. Raise a StackraceError whose message names the way out.
    """
    with (
        nullcontext() if store is None else open_store(store) as opened,
        ready_race(with_current_deployment(request), opened, on_preparing or ignore_step) as ready,
    ):
        return run_prepared(ready, on_event or (lambda event: None))


@contextmanager
def ready_race(
    request: RaceRequest,
    store: Store | None,
    on_preparing: OnPreparing = ignore_step,
    *,
    resumed: ResumedRace | None = None,
    scheduling: Scheduling | None = None,
    adapt: _Adapt | None = None,
    first: int | None = None,
) -> Iterator[PreparedRace]:
    """Prepare the race of ``request``, to be kept in ``store``, and yield it; nothing is left running afterwards.

    A race without ``store`` is not kept. ``resumed`` is the interrupted race to continue; None for a new race.
    ``adapt`` turns a new prepared race into another one, such as a tuning, before anything of it is kept; a resumed
    tuning needs no ``adapt``. ``first`` is as in `prepared`. ``scheduling`` replaces the rules of the race's
    strategy. Raise InputError, or another StackraceError, if there is nothing to race, if the budget does not hold
    a single block, or if ``resumed`` was raced under other conditions.
    """
    strategist = None if resumed is None else strategist_of(resumed.race)
    if resumed is not None and strategist is not None:
        first = strategist.fewest(resumed.race)
    prepare = machine_source().prepared if is_elsewhere(request) else prepared
    with prepare(request, on_preparing, first=first) as fresh:
        if resumed is None:
            fresh = fresh if adapt is None else adapt(fresh)
            strategist = strategist_of(fresh.plan.race)
        elif strategist is not None:
            fresh = strategist.resumed(fresh, resumed.race)
        checkpoint = None if store is None else _checkpoint_of(fresh)
        if resumed is not None and checkpoint is not None:
            refuse_changed(resumed, fresh.plan.race, checkpoint)
            checkpoint = replace(resumed.checkpoint, folder=checkpoint.folder)
        ready = _with_outlook(fresh, strategist) if resumed is None else _resumed_race(fresh, resumed.race)
        if strategist is not None and scheduling is None:
            scheduling = strategist.scheduling(ready)
        ready = replace(ready, scheduling=scheduling or ready.scheduling)
        # before anything is kept of a race that will not start
        check_budget(ready.plan, begun_s=ready.begun_s, scheduling=ready.scheduling)
        with recorder(store, ready.plan.race.id, checkpoint, new=resumed is None) as keeper:
            yield replace(ready, keeper=keeper)


def _with_outlook(fresh: PreparedRace, strategist: Strategist | None) -> PreparedRace:
    """Return the race with its outlook, and with warnings and unusual conditions among its notes."""
    plan, race = fresh.plan, fresh.plan.race
    warned = (*race.notes, *map(warning, fresh.warnings))
    if strategist is not None:
        # the answer contains its outlook, too
        return replace(fresh.having(replace(race, notes=warned)), foretold=strategist.outlook(fresh))
    unusual = (*plan.limit, *outlook(plan, fresh.request))
    foretold = (*unusual, *filter(None, [estimate(plan)]))
    return replace(fresh.having(replace(race, notes=(*warned, *unusual))), foretold=foretold)


def _resumed_race(fresh: PreparedRace, race: Race) -> PreparedRace:
    """Return ``race`` as it continues; its budget pays neither for the interrupted block nor for preparing
    again."""
    return replace(fresh.having(race), begun_s=time.monotonic() - race.elapsed_s)


def _checkpoint_of(prepared: PreparedRace) -> Checkpoint:
    app, request = prepared.plan.app, prepared.request
    return Checkpoint(
        request=request_document(request),
        interpreter=str(app.python or app.ruby or ""),
        sources=source_digest(app, _recordings(request)),
        folder=str(prepared.folder or ""),
    )


def _recordings(request: RaceRequest) -> list[Path]:
    asked = (request.session, *(workload.session for workload in request.workloads))
    return [path for path in asked if path is not None and not path.name.startswith("bundled:")]
