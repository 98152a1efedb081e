"""A race from the first check to the last report."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...api.former import Former, hold_to
from ...api.going_on import go_on_with, races_folder
from ...api.keeping import opening_of
from ...deploy.here import Here
from ...model.errors import InterruptedRace, RefusedError
from ...model.race import Ending, Race
from ...model.verdict import Effect
from ...race.events import Event
from ...race.rounds import Still
from ...race.runner import check_budget, run
from ...race.twins import entrants
from ...report.outlook import outlook
from ...report.result import standing_of
from ...setup.planning import plan_of, race_of
from ...setup.preflight import check_limits, wait_for_ports
from ...setup.refusals import refuse_early
from ...setup.stage import set_up
from ...spec.request import RaceRequest
from ...store import ManifestSink, StoreSink, begin_manifest, open_store
from ..announcer import Announcer
from ..progress import LiveSink
from ..showing import show, write_html

if TYPE_CHECKING:
    from ...store.store import Store

__all__ = ["race_and_report", "raced", "report_of", "stoppable"]


def race_and_report(request: RaceRequest, *, store_url: str | None, html: Path | None, as_json: bool) -> None:
    """Race as ``request`` says, keep the result, show it. Raises RefusedError or InterruptedRace at the end."""
    with stoppable(), open_store(store_url) as store:
        report_of(raced(request, store), store, html, as_json)


def raced(request: RaceRequest, store: Store, former: Former | None = None, *, still: Still | None = None) -> Race:
    """Set up what ``request`` asks for, race it with a live view on stderr, keep it in ``store``, and return it.

    ``former`` is the race that goes on, where this is no new one; ``still`` chooses among the cells before each
    block. Nothing is printed on stdout. What an
    interruption leaves is kept and returned, its ending INTERRUPTED. Raises InputError and its kin where there is
    nothing to race, when the budget does not hold a single block, or where ``former`` was raced otherwise.
    """
    begun = time.monotonic()
    refuse_early(request)
    with stoppable(), Announcer() as say, set_up(request, say) as stage:
        plan = plan_of(request, stage)
        begun += wait_for_ports(say)
        together = 1 if plan.repeats else len(entrants(plan))
        limits = check_limits(plan.loads, plan.cores, folder=stage.guard.directory, stacks=together)
        ahead = outlook(plan, request, left_out=stage.left_out)
        race = race_of(plan, request, (*stage.notes, *limits, *ahead))
        place = Here(
            guard=stage.guard,
            launcher=stage.launcher,
            cores=stage.cores,
            beside=stage.beside,
            debug=stage.loaded.debug,
        )
        say.done()
        begun += say.installing_s
        opening = opening_of(race.id, race.version, request, stage, store)
        if former is not None:
            hold_to(former, race, opening)
            plan, race = replace(plan, id=former.race.id), former.race
            # neither the block that was cut nor setting up again is charged to the budget
            begun = time.monotonic() - race.elapsed_s
            ahead = ()
        # before anything is kept of a race that will not be
        check_budget(plan, race, begun_s=begun, still=still)
        for sentence in ahead:
            click.echo(sentence, err=True)
        manifest = nullcontext(former.manifest) if former else begin_manifest(races_folder(), opening)
        with manifest as file, LiveSink(plan, begun) as live:
            noted = ManifestSink(file, begun, folder=stage.guard.directory)
            # the store first: the manifest tells the end of nothing that the store does not have
            sinks = (StoreSink(store), noted, live)

            def tell(event: Event) -> None:
                for sink in sinks:
                    sink(event)

            return run(plan, race, place, tell, begun_s=begun, still=still)


def report_of(race: Race, store: Store, html: Path | None, as_json: bool) -> None:
    """Show a race that is over. Raises RefusedError or InterruptedRace where it gave no answer."""
    standing = standing_of(race)
    written = write_html(race, standing, html)
    show(race, standing, as_json=as_json)
    click.echo(f"\nThe report: {written}\nAgain, in any format: stackrace report {race.id}", err=as_json)
    if race.ending is Ending.INTERRUPTED:
        raise InterruptedRace(
            f"interrupted; what was measured is kept as race {race.id}; go on with: {go_on_with(race.id, store)}"
        )
    if not standing.levels:
        why = "the document's answer says why" if as_json else "the reasons stand above"
        raise RefusedError(f"no stack gave a believable measurement; {why}")
    if not standing.verdict.valid:
        remedies = "; ".join(one.remedy for one in standing.verdict.findings if one.effect is Effect.INVALIDATES)
        raise RefusedError(f"the race is void, as its answer says; {remedies}")


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
