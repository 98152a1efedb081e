"""A race from the first check to the last report."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import __version__
from ..deploy.here import Here
from ..model import ids
from ..model.errors import InterruptedRace, RefusedError
from ..model.load import Load
from ..model.race import Ending, Race, RacePlan
from ..race.events import Event
from ..race.runner import run
from ..report.result import standing_of
from ..spec.request import RaceRequest
from ..store import StoreSink, open_store
from .defaults import BUDGET_S, CONCURRENCY
from .preflight import check_limits
from .progress import Announcer, LiveSink
from .showing import show, write_html
from .stage import Stage, set_up

if TYPE_CHECKING:
    from ..store.store import Store  # imports Django

__all__ = ["race_and_report", "raced", "stoppable"]


def race_and_report(request: RaceRequest, *, store_url: str | None, html: Path | None, as_json: bool) -> None:
    """Race as ``request`` says, keep the result, show it. Raises RefusedError or InterruptedRace at the end."""
    with stoppable(), open_store(store_url) as store:
        finished = raced(request, store)
    _report(finished, html, as_json)


def raced(request: RaceRequest, store: Store) -> Race:
    """Race as ``request`` says and return what came of it, kept in ``store``; interrupted or not."""
    begun = time.monotonic()
    with Announcer() as say, set_up(request, say) as stage:
        plan = _plan(request, stage)
        race = _race(plan, request, stage, check_limits(plan.loads, plan.cores))
        place = Here(
            guard=stage.guard,
            launcher=stage.launcher,
            workload=stage.loaded.workload,
            cores=stage.cores,
            beside=stage.beside,
            debug=stage.loaded.debug,
        )
        say.done()
        begun += say.installing_s
        with LiveSink(plan, begun) as live:
            sinks = (StoreSink(store), live)

            def tell(event: Event) -> None:
                for sink in sinks:
                    sink(event)

            return run(plan, race, place, tell, begun_s=begun)


def _report(race: Race, html: Path | None, as_json: bool) -> None:
    standing = standing_of(race)
    written = write_html(race, standing, html)
    show(race, standing, as_json=as_json)
    click.echo(f"\nThe report: {written}\nAgain, in any format: stackrace report {race.id}", err=as_json)
    if race.ending is Ending.INTERRUPTED:
        raise InterruptedRace(f"interrupted; what was measured is kept as race {race.id}")
    if not standing.levels:
        raise RefusedError("no stack gave a believable measurement; the reasons stand above")


def _plan(request: RaceRequest, stage: Stage) -> RacePlan:
    levels = request.concurrency or CONCURRENCY
    return RacePlan(
        id=ids.generate(),
        app=stage.loaded.app,
        workload=stage.loaded.workload,
        stacks=stage.stacks,
        loads=tuple(
            Load(concurrency=level, keep_alive=request.keep_alive, timeout_s=request.timeout_s)
            for level in sorted(set(levels))
        ),
        question=request.question,
        difference=request.difference,
        budget_s=request.budget_s or BUDGET_S,
        cores=stage.cores,
        seed=random.SystemRandom().randrange(2**32) if request.seed is None else request.seed,
        slice_s=request.slice_s,
    )


def _race(plan: RacePlan, request: RaceRequest, stage: Stage, warnings: tuple[str, ...]) -> Race:
    from ..probe import host_facts

    return Race(
        id=plan.id,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        app=plan.app.name,
        urls=tuple(asked.path for asked in plan.workload.requests),
        stacks=tuple(stack.path for stack in plan.stacks),
        loads=plan.loads,
        question=plan.question,
        difference=plan.difference,
        budget_s=plan.budget_s,
        cores=plan.cores,
        seed=plan.seed,
        host=host_facts(),
        notes=(*stage.notes, *warnings),
    )


@contextmanager
def stoppable() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C while a race runs, so that they, too, keep what was measured."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, interrupt) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
