"""The answer over all load levels: where the same stack leads, where another one, where nothing can be told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from ...base.interval import Interval
from ...base.numbers import connections, not_one, percent
from ...race.results.lead import Lead, LeadKind
from ...race.results.race import Race
from ...race.results.standing import Standing
from .phrases import names, others, sentence

__all__ = ["elsewhere", "leads"]


def leads(levels: Sequence[Lead], race: Race) -> str:
    """Return a sentence for each workload, and for each way of connecting; empty where there is one level only."""
    return _of_all(levels, levels, race) if len(levels) > 1 else ""


def elsewhere(standing: Standing, race: Race) -> str:
    """Return the same of the levels that the answer does not speak of; empty where there are none."""
    level = standing.levels[standing.headline] if standing.levels else None
    others = [lead for lead in standing.leads
              if level is None or (lead.workload, lead.load) != (level.workload, level.load)]  # fmt: skip
    return _of_all(others, standing.leads, race, other=" other")


def _of_all(levels: Sequence[Lead], known: Sequence[Lead], race: Race, *, other: str = "") -> str:
    """Word ``levels``; where all that are ``known`` are of several workloads or ways, each says of which it is."""
    series: dict[tuple[str, bool], list[Lead]] = {}
    for lead in levels:
        series.setdefault((lead.workload, lead.load.keep_alive), []).append(lead)
    several = len({(lead.workload, lead.load.keep_alive) for lead in known}) > 1
    return " ".join(_series(part, race, other, several=several) for part in series.values())


def _series(levels: list[Lead], race: Race, other: str, *, several: bool) -> str:
    levels.sort(key=lambda lead: lead.load.concurrency)
    groups = [list(group) for _, group in groupby(levels, key=lambda lead: lead.key)]
    if len(groups) == 1:
        clauses = [f"{_everywhere(levels, other)}{_clause(groups[0], race.difference)}"]
    else:
        clauses = [
            f"{_at(group, first=place == 0, last=place == len(groups) - 1)}, {_clause(group, race.difference)}"
            for place, group in enumerate(groups)
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


def _at(group: Sequence[Lead], *, first: bool, last: bool) -> str:
    numbers = [lead.load.concurrency for lead in group]
    unit = f" connection{'' if numbers[-1] == 1 else 's'}" if first else ""
    if last and len(numbers) > 1:
        return f"from {numbers[0]} on"
    if len(numbers) > 2:
        return f"from {numbers[0]} to {numbers[-1]}{unit}"
    return f"at {' and '.join(map(str, numbers))}{unit}"


def _clause(group: Sequence[Lead], difference: float) -> str:
    lead = group[0]
    match lead.kind:
        case LeadKind.AHEAD:
            ratios = [each.ratio for each in group if each.ratio is not None]
            return f"{lead.stacks[0]} is ahead{_margin(ratios)}"
        case LeadKind.ALIKE:
            return f"{names(lead.stacks)} are equally good"
        case LeadKind.ENOUGH:
            return f"no stack is more than {percent(difference)} faster than {lead.stacks[0]}"
        case LeadKind.ONCE:
            return f"{lead.stacks[0]} was fastest, each measured once"
        case LeadKind.ALONE:
            return f"only {lead.stacks[0]} could be measured"
        case LeadKind.OPEN:
            same = len({each.stacks for each in group}) == 1
            if not same:
                return "the first place is undecided"
            return f"{lead.stacks[0]} cannot be told from {others(lead.stacks[1:])}"


def _margin(ratios: Sequence[Interval]) -> str:
    """Word the margins of several levels as one: from the least to the largest, within the outermost limits."""
    known = [ratio for ratio in ratios if math.isfinite(ratio.value)]
    if not known:
        return ""
    least, most = (not_one(pick(ratio.value for ratio in known)) for pick in (min, max))
    lows = [ratio.low for ratio in known if ratio.low is not None]
    highs = [ratio.high for ratio in known if ratio.high is not None]
    limits = f" ({not_one(min(lows))}–{not_one(max(highs))})" if lows and highs else ""
    return f" by {least if least == most else f'{least}–{most}'}×{limits}"
