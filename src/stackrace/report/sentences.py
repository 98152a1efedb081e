"""The sentences that every report shares, so that terminal, page and Markdown say the same."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.race import Ending, Race
from ..model.standing import Row, Standing
from . import figures

__all__ = ["about", "ending", "limits_note", "resolution", "tier_title"]

MOST_RESOLUTION = 1.0
"""A race that could not even tell a stack from one twice as fast has no resolution worth a number."""

_ENDINGS = {
    Ending.ANSWERED: "The race ended because its question is answered.",
    Ending.BUDGET: "The race ended because its budget was spent.",
    Ending.COMPLETED: "The race ended because all its runs were made.",
    Ending.EXHAUSTED: "The race ended because nothing was left to race.",
    Ending.INTERRUPTED: "The race was interrupted; what was measured until then is shown.",
    None: "The race has not ended, or was killed; what was measured until then is shown.",
}


def ending(race: Race, standing: Standing) -> str:
    """Say why the race ended and whether its question is answered."""
    said = f"{_ENDINGS[race.ending]}{_resumed(race)}"
    if standing.settled or race.ending is Ending.ANSWERED:
        return said
    return f"{said} Its question is not settled."


def _resumed(race: Race) -> str:
    """Say that blocks were cut by interruptions, and that they count nowhere."""
    if not race.resumed:
        return ""
    cut = sum(launch.cut_short for launch in race.launches)
    left_out = f"; left out: {_of(cut, 'launch')} of blocks that were cut, and raced again" if cut else ""
    return f" It went on after {_of(race.resumed, 'interruption')}{left_out}."


def resolution(race: Race, standing: Standing) -> str:
    """Say which differences this race could have shown, and which do not matter."""
    matters = f"Differences below {figures.percent(race.difference)} do not matter to this race"
    if standing.resolution is None or standing.resolution > MOST_RESOLUTION:
        return f"{matters}; too few launches to say which ones it could show."
    return f"{matters}; it could show differences of {figures.percent(standing.resolution)} or more."


def limits_note(standing: Standing) -> str:
    """Say what the limits are; empty when every row has some."""
    rows = [row for level in standing.levels for row in level.rows]
    if any(row.throughput_per_s.low is None or row.ratio.low is None for row in rows):
        return "Where limits are missing, too few launches were made to give any."
    return ""


def about(race: Race) -> str:
    """Name the app, the race's size and the time it took."""
    stacks = _of(len(race.stacks), "stack")
    workloads = f"{_of(len(race.workloads), 'workload')}, " if race.workloads else ""
    levels = _of(len(race.loads), "load level")
    runs = "" if race.repeats is None else f"{_of(race.repeats, 'run')} of each, "
    launches = _of(sum(not launch.cut_short for launch in race.launches), "launch")
    return f"{race.app}: {stacks}, {workloads}{levels}, {runs}{launches} in {figures.duration(race.elapsed_s)}"


def tier_title(rows: Sequence[Row]) -> str:
    """Say what sharing the tier of ``rows`` means."""
    tier = rows[0].tier
    return f"Tier {tier}" + (", cannot be told apart" if len(rows) > 1 else "")


def _of(number: int, thing: str) -> str:
    plural = f"{thing}es" if thing.endswith("ch") else f"{thing}s"
    return f"{number} {thing if number == 1 else plural}"
