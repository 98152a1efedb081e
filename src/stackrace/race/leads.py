"""Who holds the first place at each load level."""

from __future__ import annotations

from dataclasses import replace

from .answering import alike
from .judged_level import JudgedLevel
from .results.lead import Lead, LeadKind

__all__ = ["lead_of"]


def lead_of(judged: JudgedLevel) -> Lead:
    """Return who holds the first place at one level, as the answer at that level would say."""
    nobody = Lead(kind=LeadKind.OPEN, load=judged.level.load, workload=judged.level.workload)
    judgement, stacks = judged.judgement, judged.stacks
    first = judgement.leader
    top = tuple(row.stack for row in judged.rows if row.tier == 1)
    if len(judged.rows) == 1:
        return replace(nobody, kind=LeadKind.ALONE, stacks=top)
    if max(row.launches for row in judged.rows) < 2:
        fastest = max(judged.rows, key=lambda row: row.throughput_per_s.value)
        return replace(nobody, kind=LeadKind.ONCE, stacks=(fastest.stack,))
    if judgement.surely:
        second = max(judged.rows[1:], key=lambda row: row.ratio.value)
        ratio = judgement.ratio(first, stacks.index(second.stack))
        return replace(nobody, kind=LeadKind.AHEAD, stacks=(stacks[first],), ratio=ratio)
    difference = judged.race.difference
    if same := alike(judgement, difference):
        named = (stacks[first], *sorted(stacks[i] for i in same))
        return replace(nobody, kind=LeadKind.ALIKE, stacks=named)
    if judgement.behind is not None and judgement.behind <= difference:
        return replace(nobody, kind=LeadKind.ENOUGH, stacks=(stacks[first],))
    return replace(nobody, stacks=top)
