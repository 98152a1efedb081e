"""A check with its progress on stderr, and its answer at the end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import click

from ...base.errors import InterruptedRace
from ...base.numbers import duration, things
from ...base.text import one_line
from ...cli.announcer import Announcer
from ...cli.showing import reports_folder, write_text
from ...cli.stdio import StatusLine, refuse_unwritable
from ...race.events import BlockEnded, Event, LaunchEnded, Progress
from ...race.preparation.prepared import PreparedRace
from ...race.request.request import RaceRequest
from ...race.results.comparison import Ruling, State
from ...race.results.race import Ending, Race
from ...race.run.runner import run_prepared
from ...report.words.findings import disturbed, failure_kind
from ...stacks.stack import Side
from ...store import open_store
from . import words
from .check_preparation import ready_check
from .ruling import gate_answer
from .variants import VariantRequest

_SILENCE_S = 15.0
"""Seconds between two lines of progress if stderr is no terminal."""


class _CheckProgress:
    """Progress of a check on stderr after each pair of launches: a line that changes on a terminal, elsewhere a new
    line from time to time. Nothing is written during a measurement."""

    def __init__(self, prepared: PreparedRace) -> None:
        self._begun_s = prepared.begun_s
        self._budget_s = prepared.plan.budget_s or 0.0
        self._line = StatusLine()
        self._silent_until_s = 0.0
        self._alarms: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.clear()

    def __call__(self, event: Event) -> None:
        if isinstance(event, BlockEnded):
            self._look(gate_answer(event.race).rulings, event.block)
        elif isinstance(event, LaunchEnded) and event.launch.failure is not None:
            self._line.say(one_line(f"{event.launch.stack} {failure_kind(event.launch.failure)}."))
        elif isinstance(event, Progress) and event.disturbance is not None:
            self._say(f"{disturbed(event.disturbance)}; {self._left()}")

    def _look(self, rulings: tuple[Ruling, ...], block: int) -> None:
        for each in rulings:
            if each.alarm is not None and (key := (str(each.response), each.workload)) not in self._alarms:
                self._alarms.add(key)
                after = things(each.alarm, "pair")
                self._line.say(one_line(f"Alarm: {words.name(each)} seems worse after {after}; racing it again."))
        clear = sum(each.state is State.CLEAR for each in rulings)
        changes = ", ".join(f"{words.name(each)} {words.change(each)}" for each in rulings[:2])
        line = f"Pair {block}: {clear} of {len(rulings)} clear; {changes}; {self._left()}"
        self._say(line)

    def _left(self) -> str:
        left_s = max(self._budget_s - (time.monotonic() - self._begun_s), 0.0)
        return f"at most {duration(left_s)} more"

    def _say(self, line: str) -> None:
        if self._line.changes:
            self._line.show(one_line(line[:118]))
        elif time.monotonic() >= self._silent_until_s:
            self._silent_until_s = time.monotonic() + _SILENCE_S
            self._line.say(one_line(line))


_FILES = ("junit", "markdown", "openmetrics", "html")


def check_and_report(request: RaceRequest, sides: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Run a check, store its race, show the answer, and exit with its code.

    ``sides`` has the given options of base and head, ``given`` the values of all other options that only a
    check has. Raises InputError for a file that cannot be written, before anything is prepared.
    """
    files = {name: given[name] for name in _FILES if given[name] is not None}
    for name, path in files.items():
        refuse_unwritable(f"--{name}", path)
    own = {
        side: VariantRequest(
            python=sides.get(f"{side}_python"),
            settings=sides.get(f"{side}_settings"),
            stack=sides.get(f"{side}_stack"),
            environment=sides.get(f"{side}_env", {}),
        )
        for side in (Side.BASE, Side.HEAD)
    }
    with open_store(given["store"]) as store:
        store.need_writable()
        with (
            Announcer() as announcer,
            ready_check(
                request,
                own,
                base=given["base"],
                allowances=given["allowances"],
                store=store,
                on_preparing=announcer,
            ) as ready,
        ):
            announcer.done()
            with _CheckProgress(ready) as shown:
                race = run_prepared(ready, shown)
    _report(race, files, as_json=given["as_json"])


def _report(race: Race, asked: Mapping[str, Path], *, as_json: bool) -> None:
    from ...report.terminal import print_sections
    from .kind import KIND, rendered

    files = {"html": reports_folder() / f"{race.id}.html", **asked}
    for name, path in files.items():
        write_text(rendered(race, name), path)
    if as_json:
        click.echo(rendered(race, "json"), nl=False)
    else:
        print_sections(KIND.sections(race))
    hint = f"\nThe report: {files['html'].absolute()}\nAgain, in any format: stackrace report {race.id}"
    click.echo(hint, err=as_json)
    if race.ending is Ending.INTERRUPTED:
        raise InterruptedRace(f"interrupted; what was measured is kept as race {race.id}")
    if code := gate_answer(race).exit_code:
        raise SystemExit(code)
