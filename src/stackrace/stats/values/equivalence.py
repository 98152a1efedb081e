"""Whether exported files do what the original did: what was tried, and the typed answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...base.numbers import Interval

__all__ = ["Equivalence", "Proof", "Reloaded", "Verdict"]


class Verdict(StrEnum):
    """The answer to "is one as fast as the other?"."""

    EQUIVALENT = "equivalent"
    """Both limits of the ratio lie within the difference that does not matter."""
    DIFFERENT = "different"
    """Both limits lie beyond it, on one side."""
    OPEN = "open"
    """Neither: there was too little time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """How the throughput of the exported files compares with the original's."""

    verdict: Verdict
    difference: float
    """The share that does not matter: 0.05 is 5 %. The ratio must lie within 1/(1 + d) and 1 + d."""
    ratio: Interval | None
    """Exported over original; None where no block had both."""
    blocks: int
    """How many had both."""
    level: str = ""
    """At which load, in words."""
    could_have_seen: float | None = None
    """The smallest difference within which these limits lie; None without limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """What clients saw while a process was reloaded."""

    hop: str
    asked: int
    lost: int
    """Not answered, or answered with another status."""
    why: str = ""
    """What became of the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was done with the exported files, all of it with success, and what they delivered."""

    units_verified: int | None
    """How many units systemd-analyze accepts; None where it is not installed."""
    checkers: tuple[str, ...]
    """The processes whose own checker accepted their files."""
    questions: int
    """How many different requests were answered rightly."""
    ready_s: float
    """From the first process to the first right answer."""
    container_healthy: bool = False
    """Whether the image's health check, run as it is written, found the stack healthy."""
    reloads: tuple[Reloaded, ...] = ()
    """Of each process whose unit can reload it."""
    equivalence: Equivalence | None = None
    """None where nothing was raced."""
