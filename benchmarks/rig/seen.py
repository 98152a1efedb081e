"""What is asked of a generator, and what it says it saw: the same two values for every generator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Load ``address`` from ``core`` over ``connections``: for ``seconds``, or ``requests`` if it can count.

    ``rate_per_s`` asks for an open loop, which only some generators have. Of ours, ``spin`` has it never sleep and
    ``warmup_s`` has it load for so long before it records.
    """

    address: str
    core: int
    connections: int
    seconds: float
    requests: int | None = None
    rate_per_s: float | None = None
    poisson: bool = False
    seed: int = 0
    spin: bool = False
    warmup_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A generator's own report, in seconds; None is what it does not tell.

    ``bounds`` names quantiles that it calls lower bounds. ``note`` says how it ended when that was not in order.
    """

    requests: int | None = None
    errors: int | None = None
    seconds: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    p999: float | None = None
    max: float | None = None
    cpu_s: float | None = None
    bounds: frozenset[str] = frozenset()
    note: str = ""
    more: Mapping[str, float] = field(default_factory=dict)

    def quantile(self, name: str) -> float | None:
        """Return the quantile called p50, p90, p99, p999 or max."""
        value: float | None = getattr(self, name)
        return value


class NotUnderstoodError(Exception):
    """A generator's output is not what its parser knows."""
