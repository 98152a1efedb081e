"""What the user sees on stderr while a race runs."""

from __future__ import annotations

import time
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Self

from ..measure.host import Disturbance
from ..measure.launch import Failure
from ..race.events import (
    Activity,
    BlockEnded,
    BlockStarted,
    Event,
    LaunchEnded,
    LaunchStarted,
    Progress,
    RaceResumed,
    RaceStarted,
    SliceEnded,
)
from ..race.plan import RacePlan
from ..race.results.race import Race
from ..race.results.standing import Standing
from ..race.resume import counted
from ..report.exporter import kind_of
from ..report.live import LiveState, LiveView, Mishap
from ..report.result import standing_so_far
from ..stacks.stack import original_path

__all__ = ["LiveSink"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ahead:
    """What is still to come: slices or runs, and the time they may take, None while unknown."""

    number: int
    seconds: float | None


class LiveSink:
    """Turns events into the live view. It draws between slices only, never during one."""

    def __init__(self, plan: RacePlan, begun_s: float) -> None:
        self._plan = plan
        self._begun_s = begun_s
        self._view = LiveView()
        self._activity, self._stack, self._level = Activity.STARTING, "", ""
        self._twin = ""
        self._stacks: tuple[str, ...] = ()
        self._out: dict[str, int] = {}
        self._answer_at_s: float | None = None
        self._block = 0
        self._slices = 0
        self._first_launch_s: float | None = None
        self._earlier_s = 0.0
        self._standing: Standing | None = None
        self._leading = ""
        self._mishaps: list[Mishap] = []
        self._disturbance: Disturbance | None = None

    def __enter__(self) -> Self:
        self._view.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._view.__exit__()

    def __call__(self, event: Event) -> None:
        match event:
            case RaceStarted(race=race):
                self._activity, self._twin, self._stacks = Activity.STARTING, race.twin, self._rivals(race)
            case RaceResumed(race=race):
                self._twin, self._stacks = race.twin, self._rivals(race)
                self._go_on(race)
            case BlockStarted(block=block, stacks=stacks):
                self._block = block + 1
                self._leaving({original_path(stack) for stack in stacks})
            case LaunchStarted(launch=launch):
                self._first_launch_s = self._first_launch_s or time.monotonic()
                self._activity, self._stack, self._level = Activity.LAUNCHING, original_path(launch.stack), ""
            case LaunchEnded(launch=launch) if launch.failure is not None:
                self._mishap(original_path(launch.stack), launch.failure)
            case SliceEnded():
                self._slices += 1
                self._view.resume()
            case BlockEnded(race=race):
                self._stands(replace(race, elapsed_s=time.monotonic() - self._begun_s))
            case Progress(activity=activity, stack=stack, cell=cell, disturbance=disturbance):
                self._view.resume()
                self._disturbance = disturbance
                self._activity, self._stack = activity, stack or ""
                self._level = "" if cell is None else cell.label
            case _:
                return
        self._view.update(self._state())
        if self._activity.must_not_be_disturbed:
            self._view.pause()

    def _rivals(self, race: Race) -> tuple[str, ...]:
        """Return the stacks whose standing is the progress: none where runs are counted, or one stack is tuned."""
        return race.stacks if kind_of(race) is None and self._plan.race.repeats is None else ()

    def _go_on(self, race: Race) -> None:
        """Count what was measured before an interruption, and the time it took."""
        whole = counted(race)
        self._activity = Activity.STARTING
        self._slices = sum(len(launch.slices) for launch in whole.launches)
        self._earlier_s = race.elapsed_s
        if self._slices:
            self._stands(race)

    def _stands(self, race: Race) -> None:
        kind = kind_of(race)
        if kind is None:
            self._standing = standing_so_far(race)
            needed_s = self._standing.answer.needed_s
            self._answer_at_s = None if needed_s is None else time.monotonic() + needed_s
        else:
            self._leading = kind.leading(race)

    def _leaving(self, racing: Set[str]) -> None:
        """Note who does not race on; a stack that comes back, since a machine was left out, has not left."""
        left = self._block - 1
        self._out = {stack: self._out.get(stack, left) for stack in self._stacks if left and stack not in racing}

    def _mishap(self, stack: str, failure: Failure) -> None:
        self._mishaps.append(Mishap(stack=stack, block=self._block, failure=failure))

    def _state(self) -> LiveState:
        elapsed = time.monotonic() - self._begun_s
        ahead = self._slices_ahead(elapsed) if self._plan.race.repeats is None else self._runs_ahead(elapsed)
        return LiveState(
            activity=self._activity,
            level=self._level,
            block=self._block,
            slices_done=self._slices,
            slices_planned=self._slices + ahead.number,
            elapsed_s=elapsed,
            eta_s=ahead.seconds,
            unit="slices" if self._plan.race.repeats is None else "runs",
            blocks=self._plan.race.repeats,
            stack=self._stack,
            stacks=self._stacks,
            out=self._out,
            answer_s=None if self._answer_at_s is None else max(self._answer_at_s - time.monotonic(), 0.0),
            standing=self._standing,
            leading=self._leading,
            mishaps=tuple(self._mishaps),
            disturbance=self._disturbance,
        )

    def _slices_ahead(self, elapsed_s: float) -> _Ahead:
        """A race in slices may take its budget, and goes on measuring as fast as it did."""
        left_s = max((self._plan.budget_s or 0.0) - elapsed_s, 0.0)
        rate = self._slices / elapsed_s if elapsed_s > 0 else 0.0
        return _Ahead(number=round(rate * left_s), seconds=left_s)

    def _runs_ahead(self, elapsed_s: float) -> _Ahead:
        """Runs are counted; what the others took tells how long they will take, if the budget allows them."""
        twice = [stack.twin for stack in self._plan.stacks if stack.path == self._twin]
        runs = len(self._plan.cells((*self._plan.stacks, *twice))) * (self._plan.race.repeats or 1)
        number = max(runs - self._slices, 0)
        if not self._slices or self._first_launch_s is None:
            return _Ahead(number=number, seconds=None)
        left_s = (time.monotonic() - self._first_launch_s + self._earlier_s) / self._slices * number
        if self._plan.budget_s is not None:
            left_s = min(left_s, max(self._plan.budget_s - elapsed_s, 0.0))
        return _Ahead(number=number, seconds=left_s)
