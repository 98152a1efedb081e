"""What a race answers, and who leads at each level, as data: reports make the sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
