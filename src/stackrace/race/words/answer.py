"""The answer to a race's question, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...model.answer import Answer, AnswerKind
from ...model.race import Question, Race, Rule
from ...model.standing import Row, Withdrawal
from ...stats import selection
from .phrases import about, names, percent, times
from .told import Told, named

__all__ = ["answer", "nothing"]


def answer(result: Answer, told: Told, withdrawals: Sequence[Withdrawal]) -> str:
    """Return the sentence without its capital and full stop; ``withdrawals`` are of stacks that met this level."""
    race = told.race
    match result.kind:
        case AnswerKind.ALONE | AnswerKind.ONLY:
            return _alone(told.rows[0], withdrawals)
        case AnswerKind.BEST:
            return f"{result.stacks[0]} is the best{_margin(result)}"
        case AnswerKind.GOOD:
            return f"{result.stacks[0]} is the best, or within {percent(race.difference)} of it{_margin(result)}"
        case AnswerKind.ALIKE:
            rest = "; every other stack is slower" if len(result.stacks) < len(told.stacks) else ""
            apart = percent(result.within or 0)
            return f"{names(result.stacks)}: nothing between them that matters, {apart} at most{rest}"
        case AnswerKind.RANKED:
            return f"every place is settled: {result.stacks[0]} comes first{_margin(result)}"
        case AnswerKind.CLOSE:
            behind = percent(result.within or 0)
            return f"{result.stacks[0]} is the best of these, or at most {behind} behind{_open(result, told)}"
    return f"{_undecided(result, told)}{_open(result, told)}"


def _margin(result: Answer) -> str:
    if result.ratio is None:
        return ""
    return f": it delivers {times(result.ratio)} the throughput of {result.next_best}, the next best"


def _undecided(result: Answer, told: Told) -> str:
    first = result.stacks[0]
    if told.race.question is Question.RANKING:
        return f"not every place is settled yet: {first} is ahead"
    if told.race.rule is Rule.SELECTION and told.row(named(told)).launches < 2:
        return f"no winner yet: {first} was fastest, but one launch says nothing about the next"
    return f"no winner yet: {first} is ahead"


def _open(result: Answer, told: Told) -> str:
    """Name who may still be the best, and the time that would tell."""
    if not result.rivals:
        return ""
    rivals = f"; {names(result.rivals)} may be better" if told.race.question is Question.WINNER else (
        f"; still open: {names(result.rivals)}")  # fmt: skip
    return rivals + _longer(result, told.race)


def _longer(result: Answer, race: Race) -> str:
    if race.repeats is not None:
        return ", which a larger number of repeats may tell"
    if race.rule is Rule.ALL_PAIRS:
        return ", which a longer budget may tell"
    if result.needed_s is not None:
        return f", which about {about(result.needed_s)} more would tell"
    if result.blocks_needed is None and math.isfinite(result.within or math.inf):
        most = selection.LOOKS[-1]
        return (
            f", and not even {most} launches of each would tell: race on a quieter machine, "
            f"or let only differences above {percent(race.difference)} matter"
        )
    return ", which a longer budget may tell"


def _alone(row: Row, withdrawals: Sequence[Withdrawal]) -> str:
    own = row.throughput_per_s
    limits = f" ({own.low:.0f}–{own.high:.0f})" if own.low is not None and own.high is not None else ""
    figure = f"{own.value:.0f} requests/s{limits}"
    if not withdrawals:
        return f"{row.stack} delivers {figure}, with nothing to compare it with"
    first, others = withdrawals[0], len(withdrawals) - 1
    more = f", and {others} more gave no result" if others else ""
    return f"only {row.stack} could be measured, at {figure}: {first.stack} {first.failure.kind}{more}"


def nothing(withdrawals: Sequence[Withdrawal]) -> str:
    """Return the whole sentence where no level has a row."""
    if not withdrawals:
        return "Nothing has been measured yet."
    first, others = withdrawals[0], len(withdrawals) - 1
    more = f" {others} more gave no result either." if others else ""
    message = f": {first.failure.message.rstrip('.')}" if first.failure.message else ""
    return f"Nothing could be measured: {first.stack} {first.failure.kind}{message}.{more}"
