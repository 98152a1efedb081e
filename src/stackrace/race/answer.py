"""The answer to a race's question, in words: who wins by how much, or why nobody does, and where the time goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model.race import Question, Race
from ..model.standing import Interval, Row, Withdrawal
from ..stats import looks
from ..stats.judge import Judgement

__all__ = ["Told", "answer", "nothing", "reason", "sentence"]


def sentence(text: str, stacks: Sequence[str]) -> str:
    """Begin with a capital, unless a stack's name comes first; end with a full stop."""
    named = text.split(" ", 1)[0] in stacks
    return (text if named else text[:1].upper() + text[1:]) + "."


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the answer is made from: the headline level. ``stacks`` are named by the judgement's indices."""

    race: Race
    stacks: Sequence[str]
    judgement: Judgement
    rows: Sequence[Row]


def answer(told: Told, withdrawals: Sequence[Withdrawal]) -> str:
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
    good = judgement.winners or (judgement.leader,)
    first = judgement.leader if judgement.leader in good else judgement.foremost(good)
    others = [i for i in range(len(stacks)) if i != first]
    rivals = [i for i in others if not judgement.order[first, i]]
    second = judgement.foremost(rivals or others)
    if not rivals:
        ratio = _times(judgement.ratio(first, second))
        return f"{stacks[first]} delivers {ratio} the throughput of {stacks[second]}, the next best"
    most = max(judgement.apart(first, i) for i in rivals)
    if most <= told.race.difference or first not in judgement.winners:
        rest = "; every other stack is slower" if len(rivals) < len(others) else ""
        begin = "no difference you would notice" if most <= told.race.difference else "hardly a difference"
        return f"{begin}: {_differ(stacks, first, rivals)} by at most {_percent(most)}{rest}"
    return (
        f"{stacks[first]} will do: no other stack is more than {_percent(told.race.difference)} faster; "
        f"{stacks[second]} delivers {_times(judgement.ratio(second, first))} its throughput"
    )


def _differ(stacks: Sequence[str], first: int, rivals: Sequence[int]) -> str:
    if len(rivals) == 1:
        return f"{stacks[first]} and {stacks[rivals[0]]} differ"
    return f"{stacks[first]} differs from {_names([stacks[i] for i in rivals])}"


def _unresolved(told: Told) -> str:
    top = [row for row in told.rows if row.tier == 1]
    first = top[0].stack
    if len(top) == 1:
        named = f"no winner yet, though {first} is ahead of all others"
    elif len(top) == 2:
        named = f"no winner yet: {first} and {top[1].stack} cannot be told apart"
    else:
        named = f"no winner yet: {first} is ahead, but {len(top) - 1} others cannot be told from it"
    if min(row.launches for row in top) < 2:
        return f"{named}; one launch says nothing about the next, so this takes {_longer(told.race)}"
    if len(top) == 2:
        ratio = told.judgement.ratio(*(told.stacks.index(row.stack) for row in top))
        named += f", the first at {_times(ratio)} the throughput of the second"
    return f"{named}; {_more(told)}"


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
    if not withdrawals:
        return "Nothing has been measured yet."
    first, others = withdrawals[0], len(withdrawals) - 1
    more = f" {others} more gave no result either." if others else ""
    message = f": {first.failure.message.rstrip('.')}" if first.failure.message else ""
    return f"Nothing could be measured: {first.stack} {first.failure.kind}{message}.{more}"


def reason(rows: Sequence[Row]) -> str:
    """Say where the CPU time of the leader and of the next stack goes; nothing when none was seen."""
    spent = [sum(row.cpu_ms_per_request.values()) for row in rows[:2]]
    if min(spent) <= 0:
        return ""
    second = rows[:2][-1]
    named = f"{second.stack} spends {_spending(second)}"
    if len(rows) == 1:
        return f"{named}."
    slower = second.ratio.high is not None and second.ratio.high < 1
    odd = ": it is not CPU time that sets them apart" if slower and spent[0] >= spent[1] else ""
    return f"{named}; the leader, {rows[0].stack}, spends {_spending(rows[0])}{odd}."


def _spending(row: Row) -> str:
    """Word a row's CPU time: ``0.52 ms of CPU time per request (81 % in gunicorn, 19 % in nginx)``."""
    by_hop = sorted(row.cpu_ms_per_request.items(), key=lambda item: -item[1])
    total = sum(row.cpu_ms_per_request.values())
    shares = [f"{round(100 * cpu_ms / total)} % in {hop}" for hop, cpu_ms in by_hop]
    return f"{_digits(total)} ms of CPU time per request" + (f" ({', '.join(shares)})" if len(shares) > 1 else "")


def _names(stacks: Sequence[str]) -> str:
    named = list(stacks) if len(stacks) <= 4 else [*stacks[:3], f"{len(stacks) - 3} more"]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def _times(ratio: Interval) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{_digits(ratio.value)}×"
    return f"{_digits(ratio.value)}× ({_digits(ratio.low)}–{_digits(ratio.high)})"


def _digits(value: float) -> str:
    if value < 0.1:
        return f"{value:.2g}" if value > 1e-4 else "0"
    return f"{value:.2f}" if value < 10 else f"{value:.0f}" if value < 1000 else "over 1000"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %" if fraction < 0.1 else f"{100 * fraction:.0f} %"
