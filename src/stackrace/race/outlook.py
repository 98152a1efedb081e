"""What the pilot foretells: how much time the question would take, where the budget does not hold it."""

from __future__ import annotations

import math
from statistics import fmean

from ..model.race import Race
from ..model.standing import Standing
from ..stats.looks import LOOKS
from ..stats.planning import blocks_needed
from .levels import blocks_of
from .piloting import piloted
from .resume import counted
from .slices import about
from .words.phrases import percent

__all__ = ["outlook"]


def outlook(race: Race, standing: Standing) -> str:
    """Return a sentence on the time that the question takes, empty where that is within the budget or answered.

    ``race.elapsed_s`` is what its blocks have taken. From the third block on the pilot knows how much launches
    vary; `blocks_needed` turns that into the look at which limits are as narrow as the difference that matters.
    Stacks that are further apart are told apart sooner.
    """
    if standing.settled or not standing.verdict.valid or len(standing.rows) < 2 or race.repeats is not None:
        return ""
    done, level = len(blocks_of(counted(race))), standing.levels[standing.headline]
    pilot = piloted(race, (level.workload, level.load.label))
    if pilot is None or not race.elapsed_s or not race.budget_s:
        return ""
    slices = fmean(row.slices / row.launches for row in level.rows if row.launches)
    sd = math.sqrt(pilot.variance(max(round(slices), 1)))
    matters, seen = percent(race.difference), f"pilot: sd {percent(math.expm1(sd))} per launch"
    needed = blocks_needed(len(level.rows), sd, race.difference, race.question)
    if needed is None:
        return (
            f"Not even {LOOKS[-1]} launches of each would tell {matters} here ({seen}): "
            "race on a quieter machine, or let only larger differences matter."
        )
    needed_s = race.elapsed_s / done * needed
    if needed <= done or needed_s <= race.budget_s:
        return ""
    return f"About {about(needed_s)} would be needed to tell {matters} ({seen})."
