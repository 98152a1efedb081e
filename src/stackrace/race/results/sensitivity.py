"""What would have to be true for a race's answer to change: one type for each kind of condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...base.numbers import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class LargerDifference:
    """If differences up to ``difference`` did not matter, ``stack`` would do as well as the one named."""

    kind: Literal["larger difference"] = "larger difference"
    """Which condition this is."""
    stack: str
    """By path."""
    difference: float
    """As a share, 0.05 for 5 %."""
    now: float
    """The difference that does not matter to the race."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLevels:
    """At other load levels of the same workload ``stack`` is proved better."""

    kind: Literal["other levels"] = "other levels"
    """Which condition this is."""
    stack: str
    """The stack that the answer would name."""
    connections: tuple[int, ...]
    """The levels, ascending."""
    or_fewer: bool
    """Whether they are all levels up to the largest of them."""
    ratio: Interval | None = None
    """Its throughput over the next best's, where it is a single level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyCounts:
    """If the p99 latency counted more than throughput, it would be ``stack``."""

    kind: Literal["latency counts"] = "latency counts"
    """Which condition this is."""
    stack: str
    """The stack that the answer would name."""
    p99_s: Interval
    """In seconds."""
    first_p99_s: Interval
    """That of the stack that the answer names."""
    at_least: bool
    """Whether ``first_p99_s`` is a lower bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoErrors:
    """If no request might fail, it would be ``stack``: ``errors`` of the ``requests`` of ``first`` failed."""

    kind: Literal["no errors"] = "no errors"
    """Which condition this is."""
    stack: str
    """The stack that the answer would name."""
    first: str
    """The stack that the answer names."""
    requests: int
    """Of ``first``."""
    errors: int
    """How many of them failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessMemory:
    """If there were less memory than the first stack needs, it would be ``stack``."""

    kind: Literal["less memory"] = "less memory"
    """Which condition this is."""
    stack: str
    """The stack that the answer would name."""
    memory_bytes: float
    """What ``stack`` needs."""
    first_memory_bytes: float
    """What the stack needs that the answer names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuCounts:
    """If CPU time were what costs, it would be ``stack``."""

    kind: Literal["CPU counts"] = "CPU counts"
    """Which condition this is."""
    stack: str
    """The stack that the answer would name."""
    cpu_ms_per_request: float
    """What ``stack`` needs."""
    first_cpu_ms_per_request: float
    """What the stack needs that the answer names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LighterServices:
    """If the app asked less of ``services``: ``share`` of the CPU time goes there."""

    kind: Literal["lighter services"] = "lighter services"
    """Which condition this is."""
    services: tuple[str, ...]
    """By name, the dearest first."""
    share: float
    """Of all CPU time, 0.8 for 80 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LighterApp:
    """If the app cost less: ``share`` of the CPU time of ``first`` is spent in ``hop``, where the app runs."""

    kind: Literal["lighter app"] = "lighter app"
    """Which condition this is."""
    first: str
    """The stack that the answer names."""
    hop: str
    """The hop that hosts the app."""
    share: float
    """Of all CPU time, 0.8 for 80 %."""


Condition = (
    LargerDifference
    | OtherLevels
    | LatencyCounts
    | NoErrors
    | LessMemory
    | CpuCounts
    | LighterServices
    | LighterApp
)
