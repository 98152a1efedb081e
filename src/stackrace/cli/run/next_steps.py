"""What to do after a race, in commands that can be typed as they are."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ...race.results.race import Race
from ...race.results.standing import Standing
from .output import Output

__all__ = ["next_steps", "short_steps"]


def next_steps(race: Race, standing: Standing, output: Output) -> Iterator[str]:
    """Yield all: see it again, look at the first stack of the headline, and load it as the race did."""
    yield f"Again, in any format: stackrace report {race.id}"
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


def short_steps(race: Race, standing: Standing, *, at: str = "") -> Iterator[str]:
    """Yield two at most, a line each: read all of it, and write what deploys the stack that it names.

    ``at`` ends a command that needs another store than the usual one.
    """
    yield f"All of it: stackrace report {race.id} --details{at}"
    if standing.settled and standing.verdict.valid:
        yield f"Deploy the first: stackrace export {race.id} --to deploy{at}"
