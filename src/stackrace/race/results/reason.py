"""Where the CPU time of the first two stacks goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CpuTime", "Reason"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuTime:
    """The CPU time of one stack, in ms per request."""

    stack: str
    """By path."""
    hops: Mapping[str, float]
    """By hop of the stack, the dearest first."""
    services: Mapping[str, float] = field(default_factory=dict)
    """By service beside the stack, such as PostgreSQL."""

    @property
    def total_ms(self) -> float:
        """What all hops of the stack take, services left out."""
        return sum(self.hops.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why the second row is behind the first, as far as CPU time tells."""

    first: CpuTime
    """That of the leader."""
    second: CpuTime | None = None
    """None where there is one row only."""
    not_cpu: bool = False
    """Whether the second stack is proved slower, though its requests take no more CPU time."""
    hop: str = ""
    """The hop that only the second stack has, where it makes most of the difference; else empty."""
