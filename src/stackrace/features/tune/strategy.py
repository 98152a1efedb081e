"""A tuning as a strategy: a search among configurations chooses who races next, and ends the race."""

from __future__ import annotations

import math
from pathlib import Path

from ...race.preparation.prepared import PreparedRace
from ...race.results.race import Race
from ...race.rounds import OpenCells
from ...race.runner import Decide
from .candidates import fewest_of
from .model import tuning_of
from .report.words import outlook as foretold
from .shaping import under_goal
from .tuner import Tuner

__all__ = ["again", "decisions", "fewest", "outlook", "show", "verb"]

verb = "stackrace tune STACK"


def fewest(race: Race) -> int:
    """Return how many configurations must be ready before any is launched."""
    return fewest_of(tuning_of(race))


def again(fresh: PreparedRace, race: Race) -> PreparedRace:
    """Return ``fresh`` under the goal of ``race``, which goes on."""
    return under_goal(fresh, tuning_of(race))


def outlook(fresh: PreparedRace) -> tuple[str, ...]:
    """Return what is to be expected, one sentence each."""
    return foretold(fresh.plan, tuning_of(fresh.plan.race))


def show(race: Race, *, html: Path | None, as_json: bool) -> None:
    """Show what was found, as ``stackrace tune`` does."""
    from .cli.run import show_outcome

    show_outcome(race, html=html, as_json=as_json)


def decisions(ready: PreparedRace) -> tuple[OpenCells, Decide]:
    """Return the search, twice: it chooses, and it knows when it has found."""
    tuner = Tuner(tuning=tuning_of(ready.plan.race), ends_s=ready.begun_s + (ready.plan.budget_s or math.inf))
    return tuner, tuner.decide
