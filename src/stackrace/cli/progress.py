"""Progress of a race, shown on stderr while it runs."""

from __future__ import annotations

import time
from collections.abc import Set
from dataclasses import replace
from typing import Any, Self

from ..race import events
from ..race.plan import RacePlan
from ..race.results.race import Race
from ..race.results.standing import Standing
from ..race.run.resume import counted
from ..report.exporter import kind_of
from ..report.live import LiveState, LiveView, Mishap
from ..report.merged_standing import standing_so_far
from ..stacks.stack import original_path


class LiveSink:
    """Sink that turns events into the live view. It draws only between slices, never during one."""

    def __init__(self, plan: RacePlan, begun_s: float) -> None:
        self._plan, self._repeats = plan, plan.race.repeats
        self._begun_s = begun_s
        self._view = LiveView()
        self._state = LiveState(
            activity=events.Activity.STARTING,
            unit="slices" if plan.race.repeats is None else "runs",
            blocks=plan.race.repeats,
        )
        self._twin = ""
        self._answer_at_s: float | None = None
        self._first_launch_s: float | None = None
        self._earlier_s = 0.0

    @property
    def standing(self) -> Standing | None:
        """Provisional standing after the last block; None before it, and in races with another result."""
        return self._state.standing

    def __enter__(self) -> Self:
        self._view.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._view.__exit__()

    def __call__(self, event: events.Event) -> None:
        match event:
            case events.RaceStarted(race=race):
                self._begin(race)
            case events.RaceResumed(race=race):
                self._begin(race)
                self._resume(race)
            case events.BlockStarted(block=block, stacks=stacks):
                self._leaving(block, {original_path(stack) for stack in stacks})
            case events.LaunchStarted(launch=launch):
                self._first_launch_s = self._first_launch_s or time.monotonic()
                self._update(activity=events.Activity.LAUNCHING, stack=original_path(launch.stack), level="")
            case events.LaunchEnded(launch=launch) if launch.failure is not None:
                mishap = Mishap(stack=original_path(launch.stack), block=self._state.block, failure=launch.failure)
                self._update(mishaps=(*self._state.mishaps, mishap))
            case events.SliceEnded():
                self._update(slices_done=self._state.slices_done + 1)
                self._view.resume()
            case events.BlockEnded(race=race):
                self._update_standing(race)
            case events.Progress(activity=activity, stack=stack, cell=cell, disturbance=disturbance):
                self._view.resume()
                level = "" if cell is None else cell.label
                self._update(activity=activity, stack=stack or "", level=level, disturbance=disturbance)
            case _:
                return
        self._update_view()
        if self._state.activity.must_not_be_disturbed:
            self._view.pause()

    def _update(self, **changes: Any) -> None:
        self._state = replace(self._state, **changes)

    def _begin(self, race: Race) -> None:
        """Note the stacks whose standing is shown as progress: none if runs are counted, or a feature shows the
        race."""
        rivals = race.stacks if kind_of(race) is None and self._repeats is None else ()
        self._twin = race.twin
        self._update(activity=events.Activity.STARTING, stacks=rivals)

    def _resume(self, race: Race) -> None:
        self._update(slices_done=sum(len(launch.slices) for launch in counted(race).launches))
        self._earlier_s = race.elapsed_s
        if self._state.slices_done:
            self._update_standing(race)

    def _update_standing(self, race: Race) -> None:
        kind = kind_of(race)
        if kind is None:
            standing = standing_so_far(race)
            needed_s = standing.answer.needed_s
            self._answer_at_s = None if needed_s is None else time.monotonic() + needed_s
            self._update(standing=standing)
        else:
            self._update(leading=kind.leading(race))

    def _leaving(self, left: int, racing: Set[str]) -> None:
        """Note the stacks that left; a stack that returns, because a machine was left out, no longer counts as
        gone."""
        out, stacks = self._state.out, self._state.stacks
        gone = {stack: out.get(stack, left) for stack in stacks if left and stack not in racing}
        self._update(block=left + 1, out=gone)

    def _update_view(self) -> None:
        now_s, done = time.monotonic(), self._state.slices_done
        elapsed_s = now_s - self._begun_s
        ahead, left_s = (self._slices_ahead if self._repeats is None else self._runs_ahead)(done, elapsed_s)
        answer_s = None if self._answer_at_s is None else max(self._answer_at_s - now_s, 0.0)
        self._update(slices_planned=done + ahead, elapsed_s=elapsed_s, eta_s=left_s, answer_s=answer_s)
        self._view.update(self._state)

    def _slices_ahead(self, done: int, elapsed_s: float) -> tuple[int, float | None]:
        """Return slices and seconds ahead, assuming that the race uses up its budget and measures as fast as
        before."""
        left_s = max((self._plan.budget_s or 0.0) - elapsed_s, 0.0)
        rate = done / elapsed_s if elapsed_s > 0 else 0.0
        return round(rate * left_s), left_s

    def _runs_ahead(self, done: int, elapsed_s: float) -> tuple[int, float | None]:
        """Return runs and seconds ahead, from the time that earlier runs took; the budget may end them sooner."""
        twice = [stack.twin for stack in self._plan.stacks if stack.path == self._twin]
        runs = len(self._plan.cells((*self._plan.stacks, *twice))) * (self._repeats or 1)
        ahead = max(runs - done, 0)
        if not done or self._first_launch_s is None:
            return ahead, None
        left_s = (time.monotonic() - self._first_launch_s + self._earlier_s) / done * ahead
        if self._plan.budget_s is not None:
            left_s = min(left_s, max(self._plan.budget_s - elapsed_s, 0.0))
        return ahead, left_s
