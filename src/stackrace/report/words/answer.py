"""The answer to a race's question, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.numbers import about, connections, milliseconds, number, percent
from ...base.verdict import Effect, Verdict
from ...race.results.answer import Answer, AnswerKind
from ...race.results.race import Race
from ...race.results.standing import Row, Standing, Withdrawal
from ...stats.values import Question
from ..figures import names, others, sentence, times
from .findings import failure_kind, failure_message, seen


def answer(race: Race, standing: Standing) -> str:
    """Return the answer's sentence; for a void race, the reasons why it is void."""
    if not standing.verdict.valid:
        return _void(standing.verdict)
    if not standing.levels:
        return _nothing(standing.withdrawals)
    return sentence(_where(standing) + _clause(race, standing) + _unserved(race, standing), race.stacks)


def _unserved(race: Race, standing: Standing) -> str:
    lacking = [stack for stack in standing.answer.stacks if stack in race.unserved]
    return (
        f"; {names(lacking)} {'does' if len(lacking) == 1 else 'do'} not serve your WebSockets" if lacking else ""
    )


def _where(standing: Standing) -> str:
    """Return the words for the answer's level, if there are others: ``on static, at 100 connections, ``."""
    level = standing.levels[standing.headline]
    several = len({level.load.label for level in standing.levels}) > 1
    on = f"on {level.workload}, " if level.workload else ""
    return on + (f"at {connections(level.load.concurrency)}, " if several else "")


def _clause(race: Race, standing: Standing) -> str:
    result = standing.answer
    match result.kind:
        case AnswerKind.ALONE | AnswerKind.ONLY:
            return _alone(standing.rows[0], _missing(race, standing))
        case AnswerKind.BEST:
            return f"{result.stacks[0]} is the best{_margin(result)}"
        case AnswerKind.GOOD:
            nearly = f"within {percent(result.within)} of it" if result.within else "equal to it"
            return f"{result.stacks[0]} is the best, or {nearly}{_margin(result)}"
        case AnswerKind.ALIKE:
            slower = f"; every other stack is slower than {result.stacks[0]}"
            rest = slower if len(result.stacks) < len(standing.rows) else ""
            apart = percent(result.within or 0)
            return f"{names(result.stacks)} are equally good: they differ by at most {apart}{rest}"
        case AnswerKind.RANKED:
            top = [row.stack for row in standing.rows if row.tier == 1]
            first = f"{names(top)} share the first" if len(top) > 1 else f"{top[0]} comes first{_margin(result)}"
            return f"every place is settled; {first}"
        case AnswerKind.CLOSE:
            behind = percent(result.within or 0)
            named = f"{result.stacks[0]} is the best of these, or at most {behind} behind"
            return f"{named}{_slower(standing)}{_open(standing, race)}"
    return f"{_undecided(race, standing)}{_open(standing, race)}"


def _slower(standing: Standing) -> str:
    """Return the clause that all other stacks are slower, if that is proved for each; else an empty text."""
    open_ = {*standing.answer.stacks, *standing.answer.rivals}
    others = [row for row in standing.rows if row.stack not in open_]
    if not others or any(row.tier == 1 for row in others):
        return ""
    return f"; {'all others are' if len(others) > 1 else f'{others[0].stack} is'} slower"


def _missing(race: Race, standing: Standing) -> Sequence[Withdrawal]:
    asked = race.limits.get(standing.levels[standing.headline].workload, race.stacks)
    return [withdrawal for withdrawal in standing.withdrawals if withdrawal.stack in asked]


def _margin(result: Answer) -> str:
    if result.ratio is None:
        return ""
    return f": it delivers {times(result.ratio)} the throughput of {result.next_best}, the next best"


def _undecided(race: Race, standing: Standing) -> str:
    first = standing.answer.stacks[0]
    if race.question is Question.RANKING:
        return f"not every place is settled: {first} leads"
    launches = next(row.launches for row in standing.rows if row.stack == first)
    if launches < 2:
        return f"no winner yet: {first} was fastest, but a single launch proves nothing"
    return f"no winner yet: {first} leads"


def _open(standing: Standing, race: Race) -> str:
    """Return the clause about the stacks that may still be best, and the time or the load that would decide."""
    result = standing.answer
    if not result.rivals:
        return ""
    rivals = f"; {others(result.rivals)} may be better" if race.question is Question.WINNER else (
        f"; {others(result.rivals)} {'is' if len(result.rivals) == 1 else 'are'} still open")  # fmt: skip
    return rivals + (_waiting(standing, race) or _longer(result, race))


_IDLE = 0.5
"""Share of their cores below which stacks wait for something."""
_LONG_S = 0.05
_ALIKE = 1.05


def _waiting(standing: Standing, race: Race) -> str:
    """Return the clause that the number of connections is the limit: all wait for the app, and the cores are idle.

    An answer takes as long with fewer connections, so no request waits for a worker. Without such a level that is
    unknown: the advice is to race one, unless a forecast says more. No server answers more than connections divided
    by response time. Source: J. D. C. Little, Operations Research 9 (1961).
    """
    level, named = standing.levels[standing.headline], {*standing.answer.stacks, *standing.answer.rivals}
    rows = [row for row in level.rows if row.stack in named]
    fewer = [
        row
        for each in standing.levels
        if each.workload == level.workload and each.load.concurrency < level.load.concurrency
        for row in each.rows
        if row.stack in named
    ]
    cores = len(race.cores.stack_cores)
    if level.load.is_open or not cores or not all(row.cpu_ms_per_request for row in rows):
        return ""
    busy = (sum(row.cpu_ms_per_request.values()) / 1e3 * row.throughput_per_s.value / cores for row in rows)
    waits_s = [row.latency.p50 for row in (*rows, *fewer)]
    if max(busy) > _IDLE or min(waits_s) < _LONG_S or max(waits_s) > _ALIKE * min(waits_s):
        return ""
    if {row.stack for row in fewer} != named:
        is_open = not fewer and standing.answer.needed_s is None and standing.answer.most_blocks is None
        took = f"; all of them take {milliseconds(min(waits_s))} ms an answer, with idle cores"
        return f"{took}: race fewer connections, too (-c), to learn what they wait for" if is_open else ""
    most = level.load.concurrency / min(waits_s)
    return (
        f"; all of them wait for the app, {milliseconds(min(waits_s))} ms an answer, with idle cores: no server "
        f"gives {connections(level.load.concurrency)} more than {number(most)} answers/s, so race more of them (-c)"
    )


def _longer(result: Answer, race: Race) -> str:
    if race.repeats is not None:
        return "; more repeats may decide"
    if result.needed_s is not None:
        return f"; about {about(result.needed_s)} more would decide"
    if result.most_blocks is not None:
        return (
            f"; not even {result.most_blocks} launches of each would decide: race on a quieter machine, "
            f"or ask for larger differences than {percent(race.difference)} (--difference)"
        )
    return "; a longer budget may decide"


def _alone(row: Row, withdrawals: Sequence[Withdrawal]) -> str:
    own = row.throughput_per_s
    limits = f" ({number(own.low)}–{number(own.high)})" if own.low is not None and own.high is not None else ""
    figure = f"{number(own.value)} requests/s{limits}"
    if not withdrawals:
        return f"{row.stack} delivers {figure}, with nothing to compare it with"
    first, further = withdrawals[0], len(withdrawals) - 1
    more = f", and {further} more gave no result" if further else ""
    return f"only {row.stack} could be measured, at {figure}: {first.stack} {failure_kind(first.failure)}{more}"


def _nothing(withdrawals: Sequence[Withdrawal]) -> str:
    if not withdrawals:
        return "Nothing has been measured yet."
    first, further = withdrawals[0], len(withdrawals) - 1
    more = f" {further} more gave no result either." if further else ""
    why = failure_message(first.failure)
    because = f": {why.rstrip('.')}" if why else ""
    return f"Nothing could be measured: {first.stack} {failure_kind(first.failure)}{because}.{more}"


def _void(verdict: Verdict) -> str:
    grave = [seen(finding).rstrip(".") for finding in verdict.findings if finding.effect is not Effect.WARNS]
    return f"This race is void: {'; '.join(grave)}."
