"""Stackrace's command with short races of slices, for tests: the machine decides neither their length nor end.

    python tests/brief.py run --budget 5min …

On a slow machine a short budget holds nothing, and on a busy one slices are refused. Here every race of slices ends
after ``BLOCKS`` blocks of one pass, however long they take, and the checks look at the stacks alone.
"""

from collections.abc import Callable

from stackrace.__main__ import main
from stackrace.checks import registry
from stackrace.race import rounds, schedule, slices

BLOCKS = 2
WARMUP_S = 0.5
OF_THE_STACKS = {"answers", "caches", "retries", "stack", "supplies", "written"}
"""The modules of checks that find the same on every machine."""


def ending(another: Callable[..., bool]) -> Callable[..., bool]:
    """Return what makes another block, but no more than ``BLOCKS``."""
    return lambda self, steps, *rest: steps.number < BLOCKS and another(self, steps, *rest)


def brief() -> None:
    """Run the command."""
    for kind in (slices.Slices, rounds.Rounds):
        kind.another = ending(kind.another)
    schedule.MOST_PASSES = rounds.MOST_PASSES = 1
    slices.warmup_cap_s = lambda *_, **__: WARMUP_S
    rounds.WARMUP_CAP_S = WARMUP_S
    registry.SLICE_CHECKS = tuple(
        check for check in registry.SLICE_CHECKS if check.function.__module__.split(".")[-1] in OF_THE_STACKS
    )
    main()


if __name__ == "__main__":
    brief()
