"""The commands that start the winner of a race by itself, in words that can be typed as they are."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ...model.standing import Standing
from .output import Output

__all__ = ["next_steps"]


def next_steps(standing: Standing, output: Output) -> Iterator[str]:
    """Yield what to do next with the first stack of the headline: look at it, and load it as the race did."""
    if output.asked is None or not standing.levels:
        return
    level = standing.levels[standing.headline]
    stack = (*output.asked, "--stack", level.rows[0].stack)
    load = [*stack, "-c", str(level.load.concurrency)]
    if not level.load.keep_alive:
        load.append("--close")
    if level.workload:
        load += ["--workload", level.workload]
    if output.session is not None:
        load += ["--session", str(output.session)]
    yield f"Look at the first: {shlex.join(['stackrace', 'up', *stack])}"
    yield f"Load it as here: {shlex.join(['stackrace', 'load', *load])}"
