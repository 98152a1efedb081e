"""How to run a race again: its race file, and the command."""

from __future__ import annotations

import json

from ..model.load import Load
from ..model.race import Race
from ..model.units import DURATION
from .clean import one_line

__all__ = ["COMMAND", "race_file"]


COMMAND = "stackrace run race.toml"
"""Runs the race file, its seed giving the same shuffled order."""


def race_file(race: Race) -> str:
    """Return the race's question as a race file; the ``[app]`` part is the project's own."""
    levels = sorted({load.concurrency for load in race.loads})
    keep_alive = all(load.keep_alive for load in race.loads)
    timeouts = {load.timeout_s for load in race.loads} - {Load(concurrency=1).timeout_s}
    timeout = f'timeout = "{_span(max(timeouts))}"\n' if timeouts else ""
    stacks = "\n".join(f"  {_text(stack)}," for stack in race.stacks)
    return (
        f"# {one_line(race.app)}: keep the [app] part of your own race file\n"
        f"[workload]\nurls = [{', '.join(_text(url) for url in race.urls)}]\n\n"
        f"[load]\nconcurrency = {levels}\nkeep_alive = {str(keep_alive).lower()}\n{timeout}\n"
        f"[race]\nquestion = {_text(race.question.value)}\n"
        f'difference = "{race.difference * 100:g}%"\n'
        f'budget = "{_span(race.budget_s)}"\nseed = {race.seed}\nstacks = [\n{stacks}\n]\n'
    )


def _span(seconds: float) -> str:
    return DURATION.format(seconds).replace(" ", "")


def _text(value: str) -> str:
    """Quote ``value`` as a TOML basic string; JSON's escapes are a subset of TOML's."""
    return json.dumps(one_line(value), ensure_ascii=False)
