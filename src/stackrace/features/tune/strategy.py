"""Strategy of a tuning: a search chooses the configurations of each block, and ends the race."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from ...base.errors import InterruptedRace, RefusedError
from ...race.judge.decisions import Decisions
from ...race.plan import Cell
from ...race.preparation.prepared import PreparedRace
from ...race.results.race import Ending, Race
from ...race.run.resume import counted
from ...race.run.scheduling import ChosenCells
from .measurements import grid_of
from .model import tuning_of
from .search import next_round
from .tuning_preparation import under_goal
from .tuning_request import fewest_of
from .tuning_result import tuned
from .words import outlook as foretold
from .words import unproved


class Tuner(ChosenCells):
    """Rules of a tuning: `search.next_round` chooses the configurations of every block, and ends the race."""

    opens_singly = False
    """False: a tuning launches most configurations only once or twice."""

    def __init__(self, *, ends_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(self.searched)
        self._ends_s, self._clock = ends_s, clock
        self._begun: tuple[float, int] | None = None

    def searched(self, race: Race, cells: Sequence[Cell]) -> Sequence[Cell]:
        """Return the cells of the next block; empty if the search or its time is over."""
        race = counted(race)
        made = len(race.launches)
        now = self._clock()
        if self._begun is None:
            # the first request for a block
            self._begun = now, made
        each_s = (now - self._begun[0]) / (made - self._begun[1]) if made > self._begun[1] else _launch_s(race)
        left = math.inf if each_s <= 0 else (self._ends_s - now) / each_s
        racing = {race.stacks[i] for i in next_round(grid_of(race), left)}
        return [cell for cell in cells if cell.stack.path in racing]

    def decide(self, race: Race) -> Decisions:
        """Return no decision: the search alone chooses the next configurations."""
        return Decisions(settled=False, dropped=frozenset())


def _launch_s(race: Race) -> float:
    took = [
        launch.ready_s + launch.warmup_s + sum(slice_.result.duration_s + 0.4 for slice_ in launch.slices)
        for launch in race.launches
        if launch.ready_s is not None
    ]
    return sum(took) / len(took) if took else 0.0


def fewest(race: Race) -> int:
    """Return the number of configurations that must be ready before any is launched."""
    return fewest_of(tuning_of(race))


def resumed(fresh: PreparedRace, race: Race) -> PreparedRace:
    """Return ``fresh`` under the goal of the resumed ``race``."""
    return under_goal(fresh, tuning_of(race))


def outlook(fresh: PreparedRace) -> tuple[str, ...]:
    """Return sentences about what the tuning will try, to be shown before it starts."""
    return foretold(fresh.plan, tuning_of(fresh.plan.race))


def show(race: Race, *, html: Path | None, as_json: bool) -> None:
    """Show the result. Raises InterruptedRace if the race was interrupted, RefusedError if it proves nothing."""
    # imported here: only the command line shows a result
    from ...cli.showing import show_result, write_html
    from .tuning_report import KIND

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


def scheduling(ready: PreparedRace) -> Tuner:
    """Return the rules of ``ready``: a search until its budget is spent."""
    return Tuner(ends_s=ready.begun_s + (ready.plan.budget_s or math.inf))
