"""What a race answers, as data: reports make the sentence of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...base.numbers import Interval

__all__ = ["Answer", "AnswerKind"]


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
