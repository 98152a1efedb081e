"""Where the result of ``stackrace run`` goes, and what to do next, in commands that can be typed as they are."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...race.results.race import Race
from ...race.results.standing import Standing

__all__ = ["Output", "next_steps", "short_steps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What the flags say."""

    store: str | None = None
    """The URL of the store; None: the usual one."""
    html: Path | None = None
    """Where the HTML report is written; None: beside the results."""
    as_json: bool = False
    """Whether one JSON document is printed on stdout."""
    details: bool = False
    """Whether all there is to say is printed, and not one screen of it."""
    asked: tuple[str, ...] | None = None
    """The race file and the flags that say which app this is; None where the command line does not say it."""
    session: Path | None = None
    """The recording that was given as --session."""


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
