"""The answer to a race's question, in one sentence: who wins by how much, or why nobody does."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.race import Question, Race
from ...model.standing import Row, Withdrawal
from ...stats import looks
from .phrases import names, percent, times
from .told import Told, named

__all__ = ["answer", "nothing"]


def answer(told: Told, withdrawals: Sequence[Withdrawal]) -> str:
    """Return the sentence without its capital and full stop; ``withdrawals`` are of stacks that met this level."""
    if len(told.rows) == 1:
        return _alone(told.rows[0], withdrawals)
    ranking = told.race.question is Question.RANKING
    if ranking and all(told.judgement.settled):
        return f"every place is settled: {_best(told)}"
    if not told.judgement.winners:
        return _unresolved(told)
    below = f"; not every place is settled yet: {_more(told)}" if ranking else ""
    return _best(told) + below


def _best(told: Told) -> str:
    """Name the winner with its margin, or those between whom there is nothing to choose."""
    judgement, stacks = told.judgement, told.stacks
    first = named(told)
    others = [i for i in range(len(stacks)) if i != first]
    rivals = [i for i in others if not judgement.order[first, i]]
    second = judgement.foremost(rivals or others)
    if not rivals:
        ratio = times(judgement.ratio(first, second))
        return f"{stacks[first]} delivers {ratio} the throughput of {stacks[second]}, the next best"
    most = max(judgement.apart(first, i) for i in rivals)
    if most <= told.race.difference or first not in judgement.winners:
        rest = "; every other stack is slower" if len(rivals) < len(others) else ""
        begin = "no difference you would notice" if most <= told.race.difference else "hardly a difference"
        return f"{begin}: {_differ(stacks, first, rivals)} by at most {percent(most)}{rest}"
    return (
        f"{stacks[first]} will do: no other stack is more than {percent(told.race.difference)} faster; "
        f"{stacks[second]} delivers {times(judgement.ratio(second, first))} its throughput"
    )


def _differ(stacks: Sequence[str], first: int, rivals: Sequence[int]) -> str:
    if len(rivals) == 1:
        return f"{stacks[first]} and {stacks[rivals[0]]} differ"
    return f"{stacks[first]} differs from {names([stacks[i] for i in rivals])}"


def _unresolved(told: Told) -> str:
    top = [row for row in told.rows if row.tier == 1]
    first = top[0].stack
    if len(top) == 1:
        found = f"no winner yet, though {first} is ahead of all others"
    elif len(top) == 2:
        found = f"no winner yet: {first} and {top[1].stack} cannot be told apart"
    else:
        found = f"no winner yet: {first} is ahead, but {len(top) - 1} others cannot be told from it"
    if min(row.launches for row in top) < 2:
        return f"{found}; one launch says nothing about the next, so this takes {_longer(told.race)}"
    if len(top) == 2:
        ratio = told.judgement.ratio(*(told.stacks.index(row.stack) for row in top))
        found += f", the first at {times(ratio)} the throughput of the second"
    return f"{found}; {_more(told)}"


def _more(told: Told) -> str:
    if max(row.launches for row in told.rows) >= looks.LOOKS[-1] and told.race.repeats is None:
        return f"{looks.LOOKS[-1]} launches of each, as many as a race makes, do not show more"
    return f"{_longer(told.race)} would show more"


def _longer(race: Race) -> str:
    return "a longer budget" if race.repeats is None else "a larger number of repeats"


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
