"""Who holds the first place at one load level."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...base.numbers import Interval
from ...measure.load import Load

__all__ = ["Lead", "LeadKind"]


class LeadKind(StrEnum):
    """What one level says about the first place."""

    AHEAD = "ahead"
    """The first stack is proved better than every other."""
    ALIKE = "alike"
    """Between the stacks named there is no difference that matters."""
    ENOUGH = "good choice"
    """No other stack is better than the first by more than does not matter."""
    OPEN = "open"
    """The first stack named cannot be told from the others."""
    ONCE = "measured once"
    """The first stack was fastest, but no stack was launched twice."""
    ALONE = "only one"
    """A single stack was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """Who holds the first place of one workload at one load level."""

    kind: LeadKind
    """ahead: proved better than every other; alike: nothing between the stacks that matters; good choice: none is
    better by more than does not matter; open: the first cannot be told from the others; measured once: the fastest
    of single launches; only one: a single stack was measured."""
    load: Load
    """The load level."""
    workload: str = ""
    """By name; empty where the race has a single one."""
    stacks: tuple[str, ...] = ()
    """By path; the first one leads."""
    ratio: Interval | None = None
    """The throughput of a stack that is ahead over that of the next best; not finite where the two never met."""

    @property
    def key(self) -> tuple[LeadKind, tuple[str, ...]]:
        """What neighbouring levels share that say the same."""
        return self.kind, () if self.kind is LeadKind.OPEN else self.stacks
