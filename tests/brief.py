"""Stackrace's command with short races of slices, for tests: the machine decides neither their length nor end.

    python tests/brief.py run --budget 5min …

On a slow machine a short budget holds nothing, and on a busy one slices are refused. Here every race of slices ends
after ``BLOCKS`` blocks of one pass, however long they take, trials are short, and checks look at the stacks alone.
They take no priority: several at once would leave other tests' servers nothing for seconds.
The variable ``BLOCKS`` says how many, as in a race that something else ends.
"""

import os
import runpy
from collections.abc import Callable, Iterable
from pathlib import Path

from stackrace.__main__ import main
from stackrace.measure.engine import engine
from stackrace.race.pacing import overhead, schedule
from stackrace.race.preparation import set_up
from stackrace.race.run import blocks
from stackrace.validity import registry
from stackrace.validity.declaration import Check, Made
from stackrace.validity.observation import Observation

BLOCKS = int(os.environ.get("BLOCKS", "2"))
WARMUP_S = 0.1
CEILING_S = 0.02
"""The look at the engine's own limit, which no check of the stacks asks for."""
OF_THE_STACKS = {"answers", "caches", "engines", "stack"}
"""The modules of checks that look at stacks, and at engines elsewhere: nobody waits until this machine is quiet."""


def ending(run_next: Callable[..., bool]) -> Callable[..., bool]:
    """Return what makes another block, but no more than ``BLOCKS``."""
    return lambda self, steps, *rest: steps.number < BLOCKS and run_next(self, steps, *rest)


def of_the_stacks(checks: Iterable[Check[Observation]]) -> tuple[Check[Observation], ...]:
    """Return those of ``checks`` that find the same on every machine."""
    return tuple(check for check in checks if check.function.__module__.split(".")[-1] in OF_THE_STACKS)


def brief() -> None:
    """Run the command."""
    for kind in (blocks.Slices, blocks.Rounds):
        kind.run_next = ending(kind.run_next)
    schedule.MOST_PASSES = blocks.MOST_PASSES = 1
    overhead._warmup_cap_s = lambda *_, **__: WARMUP_S
    blocks.WARMUP_CAP_S = WARMUP_S
    set_up.can_raise = lambda: False
    engine._TIMES, engine._MEASURED_S = 1, CEILING_S
    for made in (Made.SLICE, Made.RUN):
        registry.CHECKS[made] = of_the_stacks(registry.CHECKS[made])
    for path in sorted(Path(__file__).parent.glob("features/*/brief.py")):
        runpy.run_path(str(path))["shorten"]()
    main()


if __name__ == "__main__":
    brief()
