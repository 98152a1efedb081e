"""Answers of a race, leaders of each level, and conditions that would change the answer, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ...base.numbers import Interval
from ...measure.load import Load


class AnswerKind(StrEnum):
    """State of a race's question: answered, and how, or why not."""

    BEST = "best"
    """The first stack is proved better than every other."""
    GOOD = "good choice"
    """The first stack is the best, or behind the best by no more than the difference that matters."""
    ALIKE = "alike"
    """No difference between the named stacks matters; every other stack is worse."""
    RANKED = "ranked"
    """Every pair of stacks is in order, or alike."""
    CLOSE = "close"
    """No answer: time ran out. The first of these stacks is the best, or behind the best by ``within`` at most."""
    UNDECIDED = "undecided"
    """No answer: the first stack is ahead, but how far it may be behind the best says nothing useful."""
    ALONE = "alone"
    """A single stack was asked for: there is nothing to compare it with."""
    ONLY = "only one"
    """Only one of several stacks could be measured, which proves nothing about it."""
    NOTHING = "nothing"
    """Nothing was measured."""
    VOID = "void"
    """The whole race is invalid."""


_ANSWERS = frozenset((AnswerKind.BEST, AnswerKind.GOOD, AnswerKind.ALIKE, AnswerKind.RANKED, AnswerKind.ALONE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer at a race's headline level."""

    kind: AnswerKind
    """best: proved better than every other; good choice: the best, or within the difference that matters; alike:
    nothing between the stacks that matters; ranked: every place is settled; alone: a single stack was asked for;
    close: no answer, but at most ``within`` behind the best; undecided, only one (of several), nothing, void: no
    answer."""
    stacks: tuple[str, ...] = ()
    """Paths of the stacks that it names: the one to take first; for ``ALIKE`` every equal one, too."""
    rivals: tuple[str, ...] = ()
    """Paths of other stacks that may still be the best, the likeliest first."""
    next_best: str = ""
    """Path of the stack closest to the first; empty if there is none."""
    ratio: Interval | None = None
    """The first stack's throughput divided by the next best's, with its limits."""
    within: float | None = None
    """The most that another stack may be better, 0.05 for 5 %; for ``ALIKE`` that any two of them differ."""
    blocks_needed: int | None = None
    """Blocks that an answer is likely to take in all; None if there is an answer, or no number would do."""
    needed_s: float | None = None
    """Seconds that the missing blocks will take; None if unknown."""

    most_blocks: int | None = None
    """Blocks after which a race is last evaluated, if not even they are likely to bring an answer."""

    @property
    def settled(self) -> bool:
        """True if the question is answered."""
        return self.kind in _ANSWERS


class LeadKind(StrEnum):
    """State of the first place at one level."""

    AHEAD = "ahead"
    """The first stack is proved better than every other."""
    ALIKE = "alike"
    """No difference between the named stacks matters."""
    ENOUGH = "good choice"
    """No other stack is better than the first by more than the difference that matters."""
    OPEN = "open"
    """The first stack named cannot be distinguished from the others."""
    ONCE = "measured once"
    """The first stack was fastest, but no stack was launched twice."""
    ALONE = "only one"
    """A single stack was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """The leaders of one workload at one load level."""

    kind: LeadKind
    """ahead: proved better than every other; alike: nothing between the stacks that matters; good choice: none is
    better by more than does not matter; open: the first cannot be told from the others; measured once: the fastest
    of single launches; only one: a single stack was measured."""
    load: Load
    """The load level."""
    workload: str = ""
    """Name of the workload; empty if the race has only one."""
    stacks: tuple[str, ...] = ()
    """Paths of the leading stacks, the first place first."""
    ratio: Interval | None = None
    """The leader's throughput divided by the next best's, for ``AHEAD``; not finite if the two shared no block."""
    within: float | None = None
    """The most that another stack may be better, 0.05 for 5 %, for ``ENOUGH``."""

    @property
    def key(self) -> tuple[LeadKind, tuple[str, ...]]:
        """The kind with its stacks; equal for levels that say the same."""
        stacks = tuple(sorted(self.stacks)) if self.kind is LeadKind.ALIKE else self.stacks
        return self.kind, () if self.kind is LeadKind.OPEN else stacks


@dataclass(frozen=True, slots=True, kw_only=True)
class LargerDifference:
    """If differences up to ``difference`` did not matter, ``stack`` would be as good as the one named."""

    kind: Literal["larger difference"] = "larger difference"
    """Name of this condition."""
    stack: str
    """Path of that stack."""
    difference: float
    """The larger difference as a share, 0.05 for 5 %."""
    now: float
    """The race's own difference that does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLevels:
    """Levels of the same workload at which ``stack`` is proved better."""

    kind: Literal["other levels"] = "other levels"
    """Name of this condition."""
    stack: str
    """The stack that the answer would name."""
    connections: tuple[int, ...]
    """Numbers of connections at those levels, ascending."""
    or_fewer: bool
    """True if ``connections`` are all levels up to their largest."""
    ratio: Interval | None = None
    """Throughput of ``stack`` divided by the next best's; only if it is a single level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyCounts:
    """If the p99 latency counted more than throughput, it would be ``stack``."""

    kind: Literal["latency counts"] = "latency counts"
    """Name of this condition."""
    stack: str
    """The stack that the answer would name."""
    p99_s: Interval
    """p99 latency of ``stack``, in seconds."""
    first_p99_s: Interval
    """p99 latency of the stack that the answer names, in seconds."""
    at_least: bool
    """True if ``first_p99_s`` is a lower bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoErrors:
    """If no request might fail, it would be ``stack``: ``errors`` of the ``requests`` to ``first`` failed."""

    kind: Literal["no errors"] = "no errors"
    """Name of this condition."""
    stack: str
    """The stack that the answer would name."""
    first: str
    """The stack that the answer names."""
    requests: int
    """Requests to ``first``."""
    errors: int
    """Failed requests to ``first``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessMemory:
    """If there were less memory than the first stack needs, it would be ``stack``."""

    kind: Literal["less memory"] = "less memory"
    """Name of this condition."""
    stack: str
    """The stack that the answer would name."""
    memory_bytes: float
    """Memory of ``stack``."""
    first_memory_bytes: float
    """Memory of the stack that the answer names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuCounts:
    """If CPU time were the main cost, it would be ``stack``."""

    kind: Literal["CPU counts"] = "CPU counts"
    """Name of this condition."""
    stack: str
    """The stack that the answer would name."""
    cpu_ms_per_request: float
    """CPU time of ``stack``."""
    first_cpu_ms_per_request: float
    """CPU time of the stack that the answer names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LighterServices:
    """If the app used ``services`` less: ``share`` of the CPU time goes there."""

    kind: Literal["lighter services"] = "lighter services"
    """Name of this condition."""
    services: tuple[str, ...]
    """Names of the services, the most expensive first."""
    share: float
    """Share of all CPU time, 0.8 for 80 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LighterApp:
    """If the app cost less: ``share`` of the CPU time of ``first`` is spent in ``hop``, where the app runs."""

    kind: Literal["lighter app"] = "lighter app"
    """Name of this condition."""
    first: str
    """The stack that the answer names."""
    hop: str
    """The hop that hosts the app."""
    share: float
    """Share of all CPU time, 0.8 for 80 %."""


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
