"""What the stacks did on several equal machines, one compared with another."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...base.numbers import Interval

__all__ = ["MachineComparison", "MachineVerdict", "RatioShift"]


class MachineVerdict(StrEnum):
    """Whether two machines are equal in something."""

    EQUAL = "equal"
    """They differ by nothing that matters."""
    UNEQUAL = "unequal"
    UNKNOWN = "unknown"
    """It cannot be told yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioShift:
    """A ratio of two stacks on one machine, over the same ratio on another."""

    first: str
    """A stack, by path."""
    second: str
    """The stack that it is divided by, by path."""
    shift: Interval
    """1.1: on the one machine ``first`` ÷ ``second`` is 1.1 times what it is on the other. Its limits hold for all
    pairs of stacks at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineComparison:
    """A machine beside the one that measured most, at the headline level."""

    machine: str
    """The name of the one."""
    against: str
    """The name of the other, which measured most blocks."""
    ratio: Interval | None
    """The throughput of the same stacks on ``machine`` ÷ that on ``against``; None where there are none."""
    speed: MachineVerdict
    """Whether they are equally fast. Where they are not, the order of stacks suffers nothing: each block lies
    within one machine."""
    shift: RatioShift | None
    """The ratio of two stacks that most likely differs; None where none can be compared."""
    ratios: MachineVerdict
    """Whether the ratios of stacks are equal. Where they are not, the blocks of ``machine`` are left out."""
