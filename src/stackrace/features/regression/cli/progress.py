"""What the user sees on stderr while a check runs."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Self

import click

from ....base.numbers import duration
from ....base.text import one_line
from ....cli.edge import redraw
from ....measure.launch import Launch
from ....race.events import BlockEnded, Event, LaunchEnded
from ....race.results.comparison import Ruling, State
from ..answer import gate_answer
from ..prepared import PreparedCheck
from ..report import words

__all__ = ["CheckProgress"]

_SILENCE_S = 15.0
"""Between two lines, where nobody looks at a terminal."""


class CheckProgress:
    """Says after each pair of launches how it looks: one line that changes on a terminal, a line now and then
    elsewhere. Nothing is drawn while anything is measured."""

    def __init__(self, prepared: PreparedCheck) -> None:
        self._begun_s = prepared.begun_s
        self._budget_s = prepared.plan.budget_s or 0.0
        self._shown = False
        self._silent_until_s = 0.0
        self._alarms: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            redraw("", sys.stderr)

    def __call__(self, event: Event) -> None:
        match event:
            case BlockEnded(race=race, block=block):
                self._look(gate_answer(replace(race, elapsed_s=time.monotonic() - self._begun_s)).rulings, block)
            case LaunchEnded(launch=launch) if launch.failure is not None:
                self._mishap(launch)
            case _:
                pass

    def _look(self, rulings: tuple[Ruling, ...], block: int) -> None:
        for each in rulings:
            if each.alarm is not None and (key := (str(each.response), each.workload)) not in self._alarms:
                self._alarms.add(key)
                self._say(f"Alarm: {words.name(each)} seems worse after {each.alarm} pairs; racing it again.")
        left_s = max(self._budget_s - (time.monotonic() - self._begun_s), 0.0)
        clear = sum(each.state is State.CLEAR for each in rulings)
        changes = ", ".join(f"{words.name(each)} {words.change(each)}" for each in rulings[:2])
        line = f"Pair {block}: {clear} of {len(rulings)} clear; {changes}; at most {duration(left_s)} more"
        if sys.stderr.isatty():
            redraw(one_line(line[:118]), sys.stderr)
            self._shown = True
        elif time.monotonic() >= self._silent_until_s:
            self._silent_until_s = time.monotonic() + _SILENCE_S
            click.echo(line, err=True)

    def _mishap(self, launch: Launch) -> None:
        from ....report.words.findings import failure_kind

        assert launch.failure is not None
        self._say(f"{launch.stack} {failure_kind(launch.failure)}.")

    def _say(self, text: str) -> None:
        if self._shown:
            redraw("", sys.stderr)
            self._shown = False
        click.echo(one_line(text), err=True)
