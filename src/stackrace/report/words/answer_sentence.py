"""The answer to a race's question, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...base.numbers import about, connections, flag_value, milliseconds, number, percent, things
from ...base.verdict import Effect, Verdict
from ...measure.launch import Bottleneck, BottleneckKind
from ...race.results.answer import Answer, AnswerKind
from ...race.results.race import Ending, Race
from ...race.results.standing import Row, Standing, Withdrawal
from ...stats.values import Question
from ..figures import names, others, sentence, times
from .findings import failure_kind, failure_message, seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """Flags of the command that runs the race again."""

    budget: str = "--budget"
    """Flags before the time."""
    takes_others: bool = True
    """False if the command takes no other flag that would decide."""

    def hint(self, flag: str) -> str:
        """Return a flag in brackets; empty if the command does not take it."""
        return f" ({flag})" if self.takes_others else ""


_OF_A_RACE = Flags()


def answer(race: Race, standing: Standing, flags: Flags = _OF_A_RACE) -> str:
    """Return the answer's sentence, with flags that would decide; for a void race, the reasons why it is void."""
    if not standing.verdict.valid:
        return _void(standing.verdict)
    if not standing.levels:
        return _no_result(standing.withdrawals)
    said = _clause(race, standing, flags) + _websockets_clause(race, standing) + _bottleneck_clause(standing, flags)
    return sentence(_where(standing) + said, race.stacks)


def _websockets_clause(race: Race, standing: Standing) -> str:
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


def _clause(race: Race, standing: Standing, flags: Flags) -> str:
    result = standing.answer
    match result.kind:
        case AnswerKind.ALONE | AnswerKind.ONLY:
            return _only_result(standing.rows[0], _asked_withdrawals(race, standing))
        case AnswerKind.BEST:
            return f"{result.stacks[0]} is the best{_margin(result)}"
        case AnswerKind.GOOD:
            nearly = f"within {percent(result.within)} of it" if result.within else "equal to it"
            return f"{result.stacks[0]} is the best, or {nearly}{_margin(result)}"
        case AnswerKind.ALIKE:
            slower = f"; every other stack is slower than {result.stacks[0]}"
            rest = slower if len(result.stacks) < len(standing.rows) else ""
            within = percent(result.within or 0)
            return f"{names(result.stacks)} are equally good: they differ by at most {within}{rest}"
        case AnswerKind.RANKED:
            top = [row.stack for row in standing.rows if row.tier == 1]
            first = f"{names(top)} share the first" if len(top) > 1 else f"{top[0]} comes first{_margin(result)}"
            return f"every place is settled; {first}"
        case AnswerKind.CLOSE:
            behind = percent(result.within or 0)
            named = f"{result.stacks[0]} is the best of these, or at most {behind} behind"
            return f"{named}{_slower(standing)}{_open(standing, race, flags)}"
    return f"{_undecided(race, standing)}{_open(standing, race, flags)}"


def _slower(standing: Standing) -> str:
    """Return the clause that all other stacks are slower, if that is proved for each; else an empty text."""
    open_ = {*standing.answer.stacks, *standing.answer.rivals}
    others = [row for row in standing.rows if row.stack not in open_]
    if not others or any(row.tier in (1, None) for row in others):
        return ""
    return f"; {'all others are' if len(others) > 1 else f'{others[0].stack} is'} slower"


def _asked_withdrawals(race: Race, standing: Standing) -> Sequence[Withdrawal]:
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


def _open(standing: Standing, race: Race, flags: Flags) -> str:
    """Return the clause about the stacks that may still be best, and the time or the load that would decide."""
    result = standing.answer
    if not result.rivals:
        return ""
    rivals = f"; {others(result.rivals)} may be better" if race.question is Question.WINNER else (
        f"; {others(result.rivals)} {'is' if len(result.rivals) == 1 else 'are'} still open")  # fmt: skip
    return rivals + ("" if _all_wait(standing) else _what_would_decide(result, race, flags))


def _all_wait(standing: Standing) -> bool:
    """Return True if the number of connections limits all stacks that may be best: more time would not decide."""
    named = {*standing.answer.stacks, *standing.answer.rivals}
    found = (row.bottleneck for row in standing.rows if row.stack in named)
    return all(
        bottleneck and (bottleneck.kind, bottleneck.unit) == (BottleneckKind.WAITING, "connection")
        for bottleneck in found
    )


def _bottleneck_clause(standing: Standing, flags: Flags) -> str:
    """Return the clause that says where the first stack's time goes; empty if unknown, or simply into its CPU."""
    row = next((row for row in standing.rows if row.stack in standing.answer.stacks[:1]), None)
    if row is None or row.bottleneck is None:
        return ""
    stack, bottleneck = row.stack, row.bottleneck
    at_once = max(round(bottleneck.at_once or 0), 1)
    served = "" if bottleneck.at_once is None else f": it serves about {things(at_once, 'request')} at once"
    match bottleneck.kind:
        case BottleneckKind.CPU if bottleneck.places:
            keep = "keeps a core" if bottleneck.places == 1 else "keep a core each"
            return f"; the {_workers_text(bottleneck)} of {bottleneck.name} {keep} busy, and other cores are idle"
        case BottleneckKind.SERVICE:
            return f"; the cores are busy, most of all with {bottleneck.name}"
        case BottleneckKind.DATABASE:
            return f"; most threads of {stack} wait for the database, with idle cores{served}"
        case BottleneckKind.LOCK:
            return f"; most threads of {stack} wait for a lock, with idle cores{served}"
        case BottleneckKind.WAITING if bottleneck.page_s and bottleneck.places:
            page, most = milliseconds(bottleneck.page_s), number(bottleneck.places / bottleneck.page_s)
            if bottleneck.unit == "connection":
                return (
                    f"; {stack} waits for the app, {page} ms a page, with idle cores: no server gives "
                    f"{_workers_text(bottleneck)} more than about {most} answers/s, so race more of them"
                    f"{flags.hint(f'-c {2 * bottleneck.places}')}"
                )
            return (
                f"; {stack} is limited by its {_workers_text(bottleneck)}: each page takes {page} ms, so about "
                f"{most} answers/s are the most. More threads, or an async server, may give more"
            )
        case BottleneckKind.SHORT if bottleneck.at_once is not None and bottleneck.places:
            could = f"{percent(bottleneck.at_once / bottleneck.places)} of what {_workers_text(bottleneck)} could"
            return f"; {stack} serves about {number(bottleneck.at_once)} requests at once, {could}, with idle cores"
    return ""


def _workers_text(bottleneck: Bottleneck) -> str:
    plural = {"process": "processes"}.get(bottleneck.unit, f"{bottleneck.unit}s")
    return f"{bottleneck.places} {bottleneck.unit if bottleneck.places == 1 else plural}"


def _what_would_decide(result: Answer, race: Race, flags: Flags) -> str:
    if race.repeats is not None:
        return f"; more repeats may decide{flags.hint(f'--repeats {2 * race.repeats}')}"
    if result.needed_s is not None:
        budget = _budget(race, race.budget_s + result.needed_s, flags)
        return f"; about {about(result.needed_s)} more would decide{budget}"
    if result.most_blocks is not None:
        larger = f"larger differences than {percent(race.difference)} (--difference {200 * race.difference:g}%)"
        return (
            f"; not even {result.most_blocks} launches of each would decide: race on a quieter machine"
            f"{f', or ask for {larger}' if flags.takes_others else ''}"
        )
    return f"; a longer budget may decide{_budget(race, 2 * race.budget_s, flags)}"


def _budget(race: Race, seconds: float, flags: Flags) -> str:
    """Return the flag for a budget; empty for a race that did not end, whose budget may be enough."""
    is_cut = race.ending in (None, Ending.INTERRUPTED)
    return "" if is_cut else f" ({flags.budget} {flag_value(seconds)})"


def _only_result(row: Row, withdrawals: Sequence[Withdrawal]) -> str:
    own = row.throughput_per_s
    limits = f" ({number(own.low)}–{number(own.high)})" if own.low is not None and own.high is not None else ""
    figure = f"{number(own.value)} requests/s{limits}"
    if not withdrawals:
        return f"{row.stack} delivers {figure}, with nothing to compare it with"
    first, further = withdrawals[0], len(withdrawals) - 1
    more = f", and {further} more gave no result" if further else ""
    return f"only {row.stack} could be measured, at {figure}: {first.stack} {failure_kind(first.failure)}{more}"


def _no_result(withdrawals: Sequence[Withdrawal]) -> str:
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
