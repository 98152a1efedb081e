"""What a race answers, who leads at each level, and what would change it, as data: reports make the sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ...base.numbers import Interval
from ...measure.load import Load


class AnswerKind(StrEnum):
    """What is known of a race's question."""

    BEST = "best"
    """The first stack is proved better than every other."""
    GOOD = "good choice"
    """The first stack is the best, or within the difference that matters of it."""
    ALIKE = "alike"
    """Between the stacks named there is no difference that matters; every other is worse."""
    RANKED = "ranked"
    """Every pair of stacks is in order, or alike."""
    CLOSE = "close"
    """No answer: time ran out. Of these stacks the first is the best, or behind it by ``within`` at most."""
    UNDECIDED = "undecided"
    """No answer: the first stack is ahead, but how far it may be behind the best says nothing useful."""
    ALONE = "alone"
    """A single stack was asked for: there is nothing to compare it with."""
    ONLY = "only one"
    """Of several stacks a single one could be measured, which proves nothing of it."""
    NOTHING = "nothing"
    """Nothing was measured."""
    VOID = "void"
    """Nothing of the race may be believed."""


_ANSWERS = frozenset((AnswerKind.BEST, AnswerKind.GOOD, AnswerKind.ALIKE, AnswerKind.RANKED, AnswerKind.ALONE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer at the level that a race speaks of."""

    kind: AnswerKind
    """best: proved better than every other; good choice: the best, or within the difference that matters; alike:
    nothing between the stacks that matters; ranked: every place is settled; alone: a single stack was asked for;
    close: no answer, but at most ``within`` behind the best; undecided, only one (of several), nothing, void: no
    answer."""
    stacks: tuple[str, ...] = ()
    """Whom it names, by path: the stack to take first; for ``ALIKE`` all that are."""
    rivals: tuple[str, ...] = ()
    """Other stacks that may still be the best, the likeliest first."""
    next_best: str = ""
    """The stack that comes next after the first; empty where there is none."""
    ratio: Interval | None = None
    """The first stack's throughput over the next best's, with its limits."""
    within: float | None = None
    """How much better another stack may be at most, 0.05 for 5 %; for ``ALIKE`` how far any two of them differ."""
    blocks_needed: int | None = None
    """How many blocks an answer is likely to take in all, where there is none yet; None where no number would
    do."""
    needed_s: float | None = None
    """How many more seconds those take; None where that is unknown."""

    most_blocks: int | None = None
    """After how many blocks a race is looked at last, where not even they are likely to bring an answer."""

    @property
    def settled(self) -> bool:
        """Whether the question is answered."""
        return self.kind in _ANSWERS


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
