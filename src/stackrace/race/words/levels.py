"""The answer over all load levels: where the same stack leads, where another one, where nothing can be told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import groupby

from ...model.race import Rule
from ...model.standing import Interval
from .phrases import digits, names, percent, sentence
from .told import Told, named

__all__ = ["Kind", "Outcome", "levels_told", "outcome"]


class Kind(Enum):
    """What one level says about the first place."""

    AHEAD = auto()
    ALIKE = auto()
    ENOUGH = auto()
    OPEN = auto()
    ONCE = auto()
    ALONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Who holds a level's first place; ``ratio`` is the throughput of one that is ahead over the next best's."""

    kind: Kind
    stacks: tuple[str, ...]
    ratio: Interval | None = None

    @property
    def key(self) -> tuple[Kind, tuple[str, ...]]:
        """What neighbouring levels share that are told in one breath."""
        return self.kind, () if self.kind is Kind.OPEN else self.stacks


def outcome(told: Told) -> Outcome:
    """Return who holds the first place at one level, as the answer at that level would say."""
    judgement = told.judgement
    top = tuple(row.stack for row in told.rows if row.tier == 1)
    if len(told.rows) == 1:
        return Outcome(kind=Kind.ALONE, stacks=top)
    if told.race.rule is Rule.SELECTION and max(row.launches for row in told.rows) < 2:
        return Outcome(kind=Kind.ONCE, stacks=(max(told.rows, key=lambda row: row.throughput_per_s.value).stack,))
    first = named(told)
    rivals = [told.stacks.index(stack) for stack in top if stack != told.stacks[first]]
    if not rivals or (judgement.winners and judgement.surely):
        second = judgement.foremost([i for i in range(len(told.stacks)) if i != first])
        return Outcome(kind=Kind.AHEAD, stacks=(told.stacks[first],), ratio=judgement.ratio(first, second))
    if not judgement.winners:
        return Outcome(kind=Kind.OPEN, stacks=top)
    if max(judgement.apart(first, i) for i in rivals) <= told.race.difference:
        return Outcome(kind=Kind.ALIKE, stacks=(told.stacks[first], *sorted(told.stacks[i] for i in rivals)))
    return Outcome(kind=Kind.ENOUGH, stacks=(told.stacks[first],))


def levels_told(levels: Sequence[Told]) -> str:
    """Return a sentence for each workload, and for each way of connecting; empty where there is one level only."""
    if len(levels) < 2:
        return ""
    series: dict[tuple[str, bool], list[Told]] = {}
    for told in levels:
        series.setdefault((told.level.workload, told.level.load.keep_alive), []).append(told)
    return " ".join(_series(one, several=len(series) > 1) for one in series.values())


def _series(levels: list[Told], *, several: bool) -> str:
    levels.sort(key=lambda told: told.level.load.concurrency)
    found = [(told.level.load.concurrency, outcome(told)) for told in levels]
    groups = [list(group) for _, group in groupby(found, key=lambda pair: pair[1].key)]
    difference = levels[0].race.difference
    if len(groups) == 1:
        clauses = [f"{_everywhere([level for level, _ in found])}{_clause(groups[0], difference)}"]
    else:
        clauses = [
            f"{_at(group, first=place == 0, last=place == len(groups) - 1)}, {_clause(group, difference)}"
            for place, group in enumerate(groups)
        ]
    return sentence((_where(levels[0]) if several else "") + "; ".join(clauses), levels[0].stacks)


def _where(told: Told) -> str:
    named_workload = f"on {told.level.workload}, " if told.level.workload else ""
    return named_workload + ("" if told.level.load.keep_alive else "with a connection for each request, ")


def _everywhere(levels: Sequence[int]) -> str:
    if len(levels) == 1:
        return f"at {levels[0]} connection{'' if levels[0] == 1 else 's'}, "
    both = "both" if len(levels) == 2 else f"all {len(levels)}"
    return f"at {both} levels, {levels[0]} to {levels[-1]} connections, "


def _at(group: Sequence[tuple[int, Outcome]], *, first: bool, last: bool) -> str:
    levels = [level for level, _ in group]
    unit = f" connection{'' if levels[-1] == 1 else 's'}" if first else ""
    if last and len(levels) > 1:
        return f"from {levels[0]} on"
    if len(levels) > 2:
        return f"from {levels[0]} to {levels[-1]}{unit}"
    return f"at {' and '.join(map(str, levels))}{unit}"


def _clause(group: Sequence[tuple[int, Outcome]], difference: float) -> str:
    seen = group[0][1]
    match seen.kind:
        case Kind.AHEAD:
            return f"{seen.stacks[0]} is ahead{_margin([one.ratio for _, one in group if one.ratio is not None])}"
        case Kind.ALIKE:
            return f"there is no difference you would notice between {names(seen.stacks)}"
        case Kind.ENOUGH:
            return f"no stack is more than {percent(difference)} faster than {seen.stacks[0]}"
        case Kind.ONCE:
            return f"where each was measured once, {seen.stacks[0]} was fastest"
        case Kind.ALONE:
            return f"only {seen.stacks[0]} could be measured"
        case Kind.OPEN:
            same = len({one.stacks for _, one in group}) == 1
            return f"{names(seen.stacks)} cannot be told apart" if same else "the first place cannot be told"


def _margin(ratios: Sequence[Interval]) -> str:
    """Word the margins of several levels as one: from the least to the largest, within the outermost limits."""
    known = [ratio for ratio in ratios if math.isfinite(ratio.value)]
    if not known:
        return ""
    least, most = (digits(pick(ratio.value for ratio in known)) for pick in (min, max))
    lows = [ratio.low for ratio in known if ratio.low is not None]
    highs = [ratio.high for ratio in known if ratio.high is not None]
    limits = f" ({digits(min(lows))}–{digits(max(highs))})" if lows and highs else ""
    return f" by {least if least == most else f'{least}–{most}'}×{limits}"
