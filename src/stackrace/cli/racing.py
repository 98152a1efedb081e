"""A race from the first check to the last report."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..deploy.here import Here
from ..model.errors import InterruptedRace, RefusedError
from ..model.race import Ending, Race
from ..race.events import Event
from ..race.runner import run
from ..report.result import standing_of
from ..spec.request import RaceRequest
from ..store import StoreSink, open_store
from .planning import plan_of, race_of
from .preflight import check_limits
from .progress import Announcer, LiveSink
from .showing import show, write_html
from .stage import set_up

if TYPE_CHECKING:
    from ..store.store import Store

__all__ = ["race_and_report", "raced", "stoppable"]


def race_and_report(request: RaceRequest, *, store_url: str | None, html: Path | None, as_json: bool) -> None:
    """Race as ``request`` says, keep the result, show it. Raises RefusedError or InterruptedRace at the end."""
    with stoppable(), open_store(store_url) as store:
        _report(raced(request, store), html, as_json)


def raced(request: RaceRequest, store: Store) -> Race:
    """Set up what ``request`` asks for, race it with a live view on stderr, keep it in ``store``, and return it.

    Nothing is printed on stdout. What an interruption leaves is kept and returned, its ending INTERRUPTED. Raises
    InputError and its kin where there is nothing to race, or when the budget does not hold a single block.
    """
    begun = time.monotonic()
    with stoppable(), Announcer() as say, set_up(request, say) as stage:
        plan = plan_of(request, stage)
        race = race_of(
            plan, request, (*stage.notes, *check_limits(plan.loads, plan.cores, folder=stage.guard.directory))
        )
        place = Here(
            guard=stage.guard,
            launcher=stage.launcher,
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
