"""Races on the command line: live view on stderr, report, how to continue, and next steps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..api.racing import ready_race
from ..api.resuming import ResumedRace, unfinished
from ..base.errors import BreakdownError, InputError, InterruptedRace, RefusedError, StoreError
from ..base.units import DURATION
from ..base.verdict import Effect
from ..deploy.guard import removed
from ..race.events import Event
from ..race.judge.notices import before
from ..race.preparation.prepared import PreparedRace
from ..race.request.request import RaceRequest
from ..race.results.race import Ending, Race
from ..race.results.standing import Standing
from ..race.run.runner import run_prepared
from ..race.run.scheduling import Scheduling
from ..race.run.strategist import strategist_of
from ..report.exporter import Format
from ..report.merged_standing import standing_of
from ..report.words.findings import busy, remedy
from ..store import open_store
from ..store.race_lock import made_here
from .announcer import Announcer
from .event_lines import print_event, print_result
from .progress import LiveSink
from .showing import at_store, go_on_with, short_steps, show, write_html
from .stdio import failure_of

if TYPE_CHECKING:
    from ..store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Output options of a race, from the flags."""

    store: str | None = None
    """URL of the store; None: the usual one."""
    html: Path | None = None
    """Path of the HTML report; None: in the reports folder."""
    as_json: bool = False
    """True to print one JSON document on stdout."""
    as_lines: bool = False
    """True to print each event, and the document at the end, as a line of JSON on stdout."""
    details: bool = False
    """True to print everything instead of one screen."""
    asked: tuple[str, ...] | None = None
    """Race file and flags that identify the app; None if the command line does not have them."""
    session: Path | None = None
    """Recording given as --session, for the command that the report recommends next."""


def race_and_report(request: RaceRequest, output: Output) -> None:
    """Race as ``request`` says, keep the result and show it. Raise RefusedError or InterruptedRace at the end."""
    with open_store(output.store) as store:
        store.need_writable()
        report_of(raced(request, store, as_lines=output.as_lines), store, output)


def raced(
    request: RaceRequest,
    store: Store,
    *,
    resumed: ResumedRace | None = None,
    scheduling: Scheduling | None = None,
    as_lines: bool = False,
) -> Race:
    """Race with a live view on stderr and return the race; see ``ready_race``.

    With ``as_lines`` each event is printed on stdout, otherwise nothing.
    """
    with Announcer() as announcer:
        preparing = ready_race(request, store, announcer, resumed=resumed, scheduling=scheduling)
        return race_live(preparing, announcer, store, as_lines=as_lines)


def race_live(
    preparing: AbstractContextManager[PreparedRace], announcer: Announcer, store: Store, *, as_lines: bool = False
) -> Race:
    """Run the race that ``preparing`` gives, with a live view on stderr, and return it; see ``raced``.

    Raise BreakdownError with the command that continues the race.
    """
    with preparing as ready:
        announcer.done()
        for sentence in (*filter(None, [before(ready.plan.race)]), *ready.foretold):
            click.echo(sentence, err=True)
        try:
            with LiveSink(ready.plan, ready.begun_s) as live:

                def shown(event: Event) -> None:
                    live(event)
                    if as_lines:
                        print_event(event, live.standing)

                return run_prepared(ready, shown)
        except (BreakdownError, StoreError, OSError, MemoryError) as error:
            raise _with_resume_hint(error, ready.plan.race.id, store) from error


def _with_resume_hint(error: Exception, race_id: str, store: Store) -> BreakdownError:
    """Return ``error`` with the command that continues the race, if this machine can continue it."""
    failure = removed(error) or failure_of(error)
    if not made_here(race_id):
        return BreakdownError(failure.message, detail=failure.detail)
    return BreakdownError(
        f"{failure.message}; what was measured is kept as race {race_id}; once that is mended, continue with: "
        f"{go_on_with(race_id, store)}",
        detail=failure.detail,
    )


def report_of(race: Race, store: Store, output: Output) -> None:
    """Show a finished race. Raise RefusedError or InterruptedRace if it gave no answer."""
    standing = standing_of(race)
    written = write_html(race, standing, output.html)
    for_program = output.as_json or output.as_lines
    if output.as_lines:
        print_result(race, standing)
    else:
        show(race, standing, Format.JSON if output.as_json else None, details=output.details)
    everything = output.details or for_program
    steps = _next_steps(race, standing, output) if everything else short_steps(race, standing, at=at_store(store))
    for line in (f"\nThe report: {written}", *steps):
        click.echo(line, err=for_program)
    if race.ending is Ending.INTERRUPTED:
        raise InterruptedRace(
            f"interrupted; the results are kept as race {race.id}; continue with: {go_on_with(race.id, store)}"
        )
    if not standing.levels:
        why = "the document's answer says why" if for_program else "see the reasons above"
        disturbed = busy(slice_.verdict for launch in race.launches for slice_ in launch.slices)
        raise RefusedError(disturbed or f"no stack gave a believable measurement; {why}")
    if not standing.verdict.valid:
        remedies = "; ".join(
            remedy(finding) for finding in standing.verdict.findings if finding.effect is Effect.INVALIDATES
        )
        raise RefusedError(f"the race is void, as its answer says; {remedies}")


def resume_and_report(prefix: str, budget_s: float | None, output: Output, *, of: str = "") -> None:
    """Continue the race that ``prefix`` means, by default the last interrupted one, and show it.

    With ``of`` it must have the part of this name. Raise InputError and StoreError if it cannot continue, before
    it is changed.
    """
    with open_store(output.store) as store:
        store.need_writable()
        with unfinished(prefix, store, budget_s=budget_s, of=of) as resumed:
            if output.as_lines and strategist_of(resumed.race) is not None:
                raise InputError(
                    "--json-lines follows plain races; continue this one with: "
                    f"{go_on_with(resumed.race.id, store)} --json"
                )
            click.echo(_resume_message(resumed), err=True)
            race = raced(resumed.request, store, resumed=resumed, as_lines=output.as_lines)
        if (strategist := strategist_of(race)) is not None:
            strategist.show(race, html=output.html, as_json=output.as_json)
        else:
            report_of(race, store, output)


def _resume_message(resumed: ResumedRace) -> str:
    done = resumed.checkpoint.blocks
    blocks = f"{done} block{'' if done == 1 else 's'}"
    left = "" if resumed.left_s is None else f", about {DURATION.format(round(max(resumed.left_s, 1.0)))} to go"
    return f"going on with race {resumed.race.id} after {blocks}{left}"


def _next_steps(race: Race, standing: Standing, output: Output) -> Iterator[str]:
    """Yield all next steps: see the race again, look at the headline's first stack, and load it as the race did."""
    yield f"Again, in any format: stackrace report {race.id}"
    if output.asked is None or not standing.levels:
        return
    level = standing.levels[standing.headline]
    stack = (*output.asked, "--stack", level.rows[0].stack)
    load = [*stack, "-c", str(level.load.concurrency)]
    if not level.load.keep_alive:
        load.append("--close")
    for flag, number in {"--silent": level.load.silent, "--idle": level.load.idle}.items():
        load += [flag, str(number)] if number else []
    if level.workload:
        load += ["--workload", level.workload]
    if output.session is not None:
        load += ["--session", str(output.session)]
    yield f"Look at the first: {shlex.join(['stackrace', 'up', *stack])}"
    yield f"Load it as here: {shlex.join(['stackrace', 'load', *load])}"
