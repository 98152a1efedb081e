"""Who holds the first place at each load level."""

from __future__ import annotations

from dataclasses import replace

from ..model.lead import Lead, LeadKind
from ..model.race import Rule
from .judged_level import JudgedLevel

__all__ = ["lead_of"]


def lead_of(judged: JudgedLevel) -> Lead:
    """Return who holds the first place at one level, as the answer at that level would say."""
    nobody = Lead(kind=LeadKind.OPEN, load=judged.level.load, workload=judged.level.workload)
    judgement, stacks = judged.judgement, judged.stacks
    top = tuple(row.stack for row in judged.rows if row.tier == 1)
    if len(judged.rows) == 1:
        return replace(nobody, kind=LeadKind.ALONE, stacks=top)
    if judged.race.rule is Rule.SELECTION and max(row.launches for row in judged.rows) < 2:
        fastest = max(judged.rows, key=lambda row: row.throughput_per_s.value)
        return replace(nobody, kind=LeadKind.ONCE, stacks=(fastest.stack,))
    first = judged.first
    rivals = [stacks.index(stack) for stack in top if stack != stacks[first]]
    if not rivals or (judgement.winners and judgement.surely):
        second = judgement.foremost([i for i in range(len(stacks)) if i != first])
        return replace(nobody, kind=LeadKind.AHEAD, stacks=(stacks[first],), ratio=judgement.ratio(first, second))
    if not judgement.winners:
        return replace(nobody, stacks=top)
    if max(judgement.apart(first, i) for i in rivals) <= judged.race.difference:
        alike = (stacks[first], *sorted(stacks[i] for i in rivals))
        return replace(nobody, kind=LeadKind.ALIKE, stacks=alike)
    return replace(nobody, kind=LeadKind.ENOUGH, stacks=(stacks[first],))
