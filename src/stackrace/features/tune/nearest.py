"""What is said where no configuration is within the limits: the nearest one, and what it would take."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.numbers import percent, things
from ...base.units import SIZE
from .model import Exceeded, Infeasible, TuningLimits, Unfit

__all__ = ["none_within"]


def none_within(stack: str, limits: TuningLimits, out: Sequence[Infeasible]) -> str:
    """Say that no configuration of ``stack`` is within ``limits``, and name every limit that the nearest exceeds.

    ``out``, at least one, are beyond a limit by what they need. The nearest is the one whose most exceeded limit is
    exceeded the least.
    """
    nearest = min(out, key=lambda one: limits.exceeded(one.needs)[0].times)
    exceeded = limits.exceeded(nearest.needs)
    known = "measured under load" if nearest.measured else "computed from two that were measured"
    return (
        f"no configuration of {stack} is within the limits: {nearest.stack} comes nearest and needs "
        f"{' and '.join(map(_much, exceeded))} ({known}); give {' '.join(map(_flag, exceeded))} or more"
    )


def _much(one: Exceeded) -> str:
    """Return what is needed, and how far off that is: ``41 MiB, 37 % more than 30 MiB,``."""
    return f"{_amount(one, one.used)}, {percent(one.times - 1)} more than the limit of {_amount(one, one.limit)}"


def _amount(one: Exceeded, many: int) -> str:
    return SIZE.format(many) if one.kind is Unfit.MEMORY else f"{things(many, 'connection')} to databases"


def _flag(one: Exceeded) -> str:
    """Return the option with a value that would do."""
    if one.kind is Unfit.MEMORY:
        return f"--memory {-(-one.used // 2**20)}MiB"
    return f"--connections {one.used}"
