"""A standing in sentences, for all reports alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...base.numbers import Interval, connections, count, mebibytes, milliseconds, not_one, number, percent
from ...race.judge.notices import headline, news
from ...race.results import answer as model
from ...race.results.answer import Lead, LeadKind
from ...race.results.race import Race
from ...race.results.standing import Costs, CpuTime, Need, Reason, Standing
from ...stats.values import MachineComparison, MachineVerdict
from ..figures import names, others, sentence, share, times
from .answer_sentence import answer


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingWords:
    """Sentences about a standing, each empty if there is nothing to say."""

    answer: str
    """The winner, its lead, and how sure that is."""
    leads: str = ""
    """The leaders at each load level."""
    reason: str = ""
    """CPU time of the first two stacks."""
    costs: str = ""
    """Memory and CPU time of the winner."""
    failing: str = ""
    """Failure of the project's current stack under load."""
    current: str = ""
    """Distance of the project's current stack from the best."""
    machines: str = ""
    """Differences between several machines, and the machines left out."""
    conditions: tuple[str, ...] = ()
    """Conditions that would change the answer, the likeliest first."""


def words_of(race: Race, standing: Standing) -> StandingWords:
    """Return the sentences about ``standing``; for a void race only the reasons why it is void."""
    if not standing.verdict.valid:
        return StandingWords(answer=answer(race, standing))
    return StandingWords(
        answer=answer(race, standing),
        leads=_leads(standing.leads, race),
        reason=_reason(standing.reason),
        costs=costs(standing.costs),
        failing=news(standing.current),
        current=headline(standing.current),
        machines=machines(standing.machines),
        conditions=tuple(_condition(change) for change in standing.conditions),
    )


def _leads(levels: Sequence[Lead], race: Race) -> str:
    """Return a sentence for each workload, and for each way of connecting; empty if there is only one level."""
    return _of_all(levels, levels, race) if len(levels) > 1 else ""


def elsewhere(standing: Standing, race: Race) -> str:
    """Return such sentences for all levels but the headline; empty if there are none."""
    level = standing.levels[standing.headline] if standing.levels else None
    others = [lead for lead in standing.leads
              if level is None or (lead.workload, lead.load) != (level.workload, level.load)]  # fmt: skip
    return _of_all(others, standing.leads, race, other=" other")


def _of_all(levels: Sequence[Lead], known: Sequence[Lead], race: Race, *, other: str = "") -> str:
    """Return the sentences about ``levels``; each names its workload or connections if ``known`` has several."""
    series: dict[tuple[str, bool], list[Lead]] = {}
    for lead in levels:
        series.setdefault((lead.workload, lead.load.keep_alive), []).append(lead)
    several = len({(lead.workload, lead.load.keep_alive) for lead in known}) > 1
    return " ".join(_series(part, race, other, several=several) for part in series.values())


def _series(levels: list[Lead], race: Race, other: str, *, several: bool) -> str:
    levels.sort(key=lambda lead: lead.load.concurrency)
    groups = [list(group) for _, group in groupby(levels, key=lambda lead: lead.key)]
    if len(groups) == 1:
        clauses = [f"{_everywhere(levels, other)}{_clause(groups[0])}"]
    else:
        clauses = [
            f"{_levels_words(group, first=index == 0, last=index == len(groups) - 1)}, {_clause(group)}"
            for index, group in enumerate(groups)
        ]
    return sentence((_where(levels[0]) if several else "") + "; ".join(clauses), race.stacks)


def _where(lead: Lead) -> str:
    workload = f"on {lead.workload}, " if lead.workload else ""
    return workload + ("" if lead.load.keep_alive else "with a connection for each request, ")


def _everywhere(levels: Sequence[Lead], other: str) -> str:
    first, last = levels[0].load.concurrency, levels[-1].load.concurrency
    if len(levels) == 1:
        return f"at {connections(first)}, "
    both = "both" if len(levels) == 2 else f"all {len(levels)}"
    return f"at {both}{other} levels, {first} to {last} connections, "


def _levels_words(group: Sequence[Lead], *, first: bool, last: bool) -> str:
    numbers = [lead.load.concurrency for lead in group]
    unit = f" connection{'' if numbers[-1] == 1 else 's'}" if first else ""
    if last and len(numbers) > 1:
        return f"from {numbers[0]} on"
    if len(numbers) > 2:
        return f"from {numbers[0]} to {numbers[-1]}{unit}"
    return f"at {' and '.join(map(str, numbers))}{unit}"


def _clause(group: Sequence[Lead]) -> str:
    lead = group[0]
    match lead.kind:
        case LeadKind.AHEAD:
            ratios = [each.ratio for each in group if each.ratio is not None]
            return f"{lead.stacks[0]} is ahead{_margin(ratios)}"
        case LeadKind.ALIKE:
            return f"{names(lead.stacks)} are equally good"
        case LeadKind.ENOUGH:
            within = max(each.within or 0.0 for each in group)
            more = f"more than {percent(within)} " if within else ""
            return f"no stack is {more}faster than {lead.stacks[0]}"
        case LeadKind.ONCE:
            return f"{lead.stacks[0]} was fastest, each measured once"
        case LeadKind.ALONE:
            return f"only {lead.stacks[0]} was measured"
        case LeadKind.OPEN:
            same = len({each.stacks for each in group}) == 1
            if not same:
                return "the first place is undecided"
            return f"{lead.stacks[0]} cannot be told from {others(lead.stacks[1:])}"


def _margin(ratios: Sequence[Interval]) -> str:
    """Return the margins of several levels as one: from the least to the largest, within the outermost limits."""
    known = [ratio for ratio in ratios if math.isfinite(ratio.value)]
    if not known:
        return ""
    least, most = (not_one(pick(ratio.value for ratio in known)) for pick in (min, max))
    lows = [ratio.low for ratio in known if ratio.low is not None]
    highs = [ratio.high for ratio in known if ratio.high is not None]
    limits = f" ({not_one(min(lows))}–{not_one(max(highs))})" if lows and highs else ""
    return f" by {least if least == most else f'{least}–{most}'}×{limits}"


def _reason(why: Reason | None) -> str:
    if why is None:
        return ""
    if why.second is None:
        return f"{why.first.stack} spends {_spending(why.first)}."
    odd = ": CPU time does not explain the difference" if why.not_cpu else ""
    added = f": {why.hop} makes most of the difference" if why.hop else ""
    return (
        f"{why.second.stack} spends {_spending(why.second)}; "
        f"the leader, {why.first.stack}, spends {_spending(why.first)}{odd}{added}."
    )


def _spending(time: CpuTime) -> str:
    """Return CPU time in words: ``0.52 ms of CPU time per request (81 % in gunicorn, 19 % in nginx)``."""
    shares = [f"{percent(ms / time.total_ms)} in {hop}" for hop, ms in time.hops.items()]
    split = f" ({', '.join(shares)})" if len(shares) > 1 else ""
    services = [f"{number(ms)} ms in {service}" for service, ms in time.services.items()]
    service_part = f", and {names(services)}" if services else ""
    return f"{number(time.total_ms)} ms of CPU time per request{split}{service_part}"


def costs(needs: Costs | None, *, short: bool = False) -> str:
    """Return the sentences about costs; empty if no cost is known.

    ``short`` leaves out limits, figures of tables, and the first of two sentences: a screen has one line.
    """
    if needs is None:
        return ""
    parts = [_cheaper_sentence(needs.first, needs.cheaper, equal=needs.equal, short=short)] if needs.cheaper else []
    if needs.cheaper is None or needs.cheaper.stack != needs.second.stack:
        parts.insert(0, _costs_sentence(needs, short=short))
    return " ".join(part for part in (parts[-1:] if short else parts) if part)


def _costs_sentence(needs: Costs, *, short: bool) -> str:
    first, second = needs.first, needs.second
    shares = _shares(first, second, short=short)
    if not shares:
        return ""
    if needs.ratio is not None and not short:
        return f"For {times(needs.ratio)} the throughput of {second.stack}, {first.stack} needs {names(shares)}."
    return f"Against {second.stack}, {first.stack} needs {names(shares)}."


def _cheaper_sentence(first: Need, cheaper: Need, *, equal: bool, short: bool) -> str:
    shares = names(_shares(cheaper, first, short=short))
    if equal:
        return f"{cheaper.stack} has as much throughput, and needs {shares}."
    return f"{cheaper.stack} has no proven difference in throughput from {first.stack} and needs {shares}."


def _shares(need: Need, other: Need, *, short: bool) -> list[str]:
    shares = []
    if need.memory_bytes and other.memory_bytes:
        figures = f" ({mebibytes(need.memory_bytes)} MiB against {mebibytes(other.memory_bytes)} MiB)"
        shares.append(f"{_of(need.memory_bytes / other.memory_bytes)} memory{'' if short else figures}")
    if need.cpu_ms_per_request and other.cpu_ms_per_request:
        figures = f" ({number(need.cpu_ms_per_request)} ms against {number(other.cpu_ms_per_request)} ms)"
        ratio = need.cpu_ms_per_request / other.cpu_ms_per_request
        shares.append(f"{_of(ratio)} CPU time{'' if short else f' per request{figures}'}")
    return shares


def _of(ratio: float) -> str:
    """Return a ratio in words with an article: ``a third of the``, ``about the same``."""
    return f"{share(ratio)}the" if abs(ratio - 1) >= 0.05 else "about the same"


def _condition(change: model.Condition) -> str:
    match change:
        case model.LargerDifference():
            return _larger_difference(change)
        case model.OtherLevels():
            return _other_levels(change)
        case model.LatencyCounts(stack=stack, p99_s=p99_s, first_p99_s=first_s, at_least=at_least):
            figures = f"{_span(p99_s)} against {'≥ ' if at_least else ''}{_span(first_s)}"
            return f"If p99 latency counts more than throughput: then {stack}, {figures}."
        case model.NoErrors(stack=stack, first=first, requests=requests, errors=errors):
            failed = f"of {first}'s {count(requests)} requests {count(errors)} failed"
            return f"If no request may fail: then {stack}, which had no errors; {failed}."
        case model.LessMemory(stack=stack, memory_bytes=size, first_memory_bytes=most):
            needs = f"{stack}, which needs {mebibytes(size)} MiB"
            return f"If a stack must fit into less than {mebibytes(most)} MiB: then {needs}."
        case model.CpuCounts(stack=stack, cpu_ms_per_request=ms, first_cpu_ms_per_request=first_ms):
            figures = f"{number(ms)} ms per request against {number(first_ms)} ms"
            return f"If CPU time is what you pay for: then {stack}, {figures}."
        case model.LighterServices(services=services, share=share):
            return (
                f"If the app asked less of {names(services)}: {percent(share)} of the CPU time goes there, "
                f"so no server can save more than the other {percent(1 - share)}."
            )
        case model.LighterApp(first=first, hop=hop, share=share):
            return (
                f"If the app cost less: {percent(share)} of {first}'s CPU time is spent in {hop}, "
                f"where the app runs, so all other servers can save at most {percent(1 - share)}."
            )


def _larger_difference(change: model.LargerDifference) -> str:
    matters = f"up to {percent(change.difference)} do not matter to you (now {percent(change.now)})"
    return f"If differences {matters}: then {change.stack} will do as well."


def _other_levels(change: model.OtherLevels) -> str:
    most = change.connections[-1]
    if change.or_fewer:
        where = f"{most} connections or fewer" if most > 1 else "a single connection"
    else:
        where = f"{' and '.join(map(str, change.connections))} connections"
    ahead = "" if change.ratio is None else f", {times(change.ratio)} the next best"
    return f"If you run at {where}: then {change.stack}{ahead}."


def _span(limits: Interval) -> str:
    if limits.low is None or limits.high is None:
        return f"{milliseconds(limits.value)} ms"
    return f"{milliseconds(limits.value)} ms ({milliseconds(limits.low)}–{milliseconds(limits.high)})"


def machines(compared: Sequence[MachineComparison]) -> str:
    """Return the sentences about machines; empty if there is only one."""
    return " ".join(text for one in compared for text in (*_speed(one), *_ratios(one)))


def _speed(one: MachineComparison) -> Iterator[str]:
    if one.ratio is None:
        return
    seen = f"the same stacks delivered {times(one.ratio)} the throughput"
    match one.speed:
        case MachineVerdict.EQUAL:
            yield f"{one.machine} is as fast as {one.against}: {seen}."
        case MachineVerdict.UNEQUAL:
            yield f"{one.machine} is {_pace(one.ratio)} than {one.against}: {seen}."
            yield "This does not change the ratios of stacks."
        case _:
            yield f"Whether {one.machine} is as fast as {one.against} cannot be told yet: {seen}."


def _pace(ratio: Interval) -> str:
    return "slower" if ratio.value < 1 else "faster"


def _ratios(one: MachineComparison) -> Iterator[str]:
    if one.shift is None:
        return
    pair = f"{one.shift.first} ÷ {one.shift.second}"
    seen = f"on {one.machine} {pair} is {times(one.shift.shift)} what it is on {one.against}"
    match one.ratios:
        case MachineVerdict.EQUAL:
            yield f"The ratios of the stacks are equal on {one.machine} and {one.against}."
        case MachineVerdict.UNEQUAL:
            yield f"The ratios of the stacks differ: {seen}. All that {one.machine} measured is left out."
        case _:
            yield f"Whether the ratios of the stacks are equal cannot be told yet: {seen}."
