"""``stackrace tune`` with its live view on stderr, and its result at the end."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import click

from ...api.racing import ready_race
from ...api.resuming import unfinished
from ...base.errors import BreakdownError, InputError, InterruptedRace, RefusedError, StoreError
from ...cli.announcer import Announcer
from ...cli.progress import LiveSink
from ...cli.showing import show_result, write_html
from ...cli.stdio import failure_of
from ...race.preparation.prepared import PreparedRace
from ...race.results.race import Ending, Race
from ...race.run.runner import run_prepared
from ...store import open_store
from ...store.race_lock import made_here
from .model import Tuning
from .tuning_preparation import ready_tuning
from .tuning_report import KIND
from .tuning_request import TuneRequest
from .tuning_result import tuned
from .words import unproved


def tune(asked: TuneRequest, *, store: str | None, html: Path | None, as_json: bool) -> None:
    """Run the tuning that was ``asked`` for, store its race, and show the result."""
    with open_store(store) as opened:
        opened.need_writable()
        with Announcer() as announcer:
            race = _raced(ready_tuning(asked, opened, announcer), announcer)
        show_outcome(race, html=html, as_json=as_json)


def resume_tuning(
    prefix: str, budget_s: float | None, *, store: str | None, html: Path | None, as_json: bool
) -> None:
    """Resume the tuning named by ``prefix``, by default the last interrupted one."""
    with open_store(store) as opened:
        opened.need_writable()
        with unfinished(prefix, opened, budget_s=budget_s, of=Tuning.name) as resumed:
            if resumed.race.parts.get(Tuning) is None:
                raise InputError(
                    f"race {resumed.race.id} tunes nothing; continue it with: "
                    f"stackrace run --resume {resumed.race.id}"
                )
            click.echo(f"going on with race {resumed.race.id} after {resumed.checkpoint.blocks} blocks", err=True)
            with Announcer() as announcer:
                race = _raced(ready_race(resumed.request, opened, announcer, resumed=resumed), announcer)
        show_outcome(race, html=html, as_json=as_json)


def _raced(preparing: AbstractContextManager[PreparedRace], announcer: Announcer) -> Race:
    with preparing as ready:
        announcer.done()
        for sentence in ready.foretold:
            click.echo(sentence, err=True)
        try:
            with LiveSink(ready.plan, ready.begun_s) as live:
                return run_prepared(ready, live)
        except (BreakdownError, StoreError, OSError, MemoryError) as error:
            failure, race_id = failure_of(error), ready.plan.race.id
            kept = f"; what was measured is kept; continue with: stackrace tune --resume {race_id}"
            message = failure.message + (kept if made_here(race_id) else "")
            raise BreakdownError(message, detail=failure.detail) from error


def show_outcome(race: Race, *, html: Path | None, as_json: bool) -> None:
    """Show the result. Raises InterruptedRace if the race was interrupted, RefusedError if it proves nothing."""
    path = write_html(race, None, html)
    show_result(KIND, race, as_json=as_json)
    click.echo(f"\nThe report: {path}\nAgain: stackrace report {race.id}", err=as_json)
    if race.ending is Ending.INTERRUPTED:
        raise InterruptedRace(
            f"interrupted; what was measured is kept as race {race.id}; continue with: "
            f"stackrace tune --resume {race.id}"
        )
    if why := unproved(race, tuned(race)):
        raise RefusedError(why)
