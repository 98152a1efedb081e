"""What the first stack of a race needs, against others."""

from __future__ import annotations

from dataclasses import dataclass

from ...base.numbers import Interval

__all__ = ["Costs", "Need"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What the hops of one stack need; services beside it are not counted. None where nobody knows."""

    stack: str
    """By path."""
    memory_bytes: float | None
    """The highest sum of PSS that was seen."""
    cpu_ms_per_request: float | None
    """A mean over all requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What the stack that the answer names needs, against the next row and against a cheaper equal.

    Neither memory nor CPU time has limits, so small differences say nothing.
    """

    first: Need
    """The stack that the answer names."""
    second: Need
    """The best row of another stack."""
    ratio: Interval | None = None
    """The throughput of ``first`` over that of ``second``, where it is proved better."""
    cheaper: Need | None = None
    """A stack of the first tier that needs clearly less, if there is one."""
    equal: bool = False
    """Whether ``cheaper`` is proved as good; otherwise it only cannot be told from ``first``."""
