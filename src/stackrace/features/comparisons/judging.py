"""Results of a comparison's claims from its races. Pure: nothing is measured here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from ...race.results.race import Race
from ...stats.pairs import Array
from .cells import FAILING_SHARE, PartRace, RacedCell
from .claims import CONFIDENCE, Answer, Finding, Panel, findings
from .model import Claim, Comparison, Kind, Metric
from .ratios import mix_outcome, table_outcome
from .rerun import Cause, ClaimOutcome, Gap, Kept, Rerun, Ruling

_LEAST_LAUNCHES = 2

_LONGEST_FROM = 10
"""Fewest blocks. The longest of a few thousand requests is an extreme value: fewer blocks give no valid limits."""


def judged(comparison: Comparison, kept: Kept, races: Mapping[str, Race]) -> Rerun:
    """Return the results of ``races``, by part, for ``comparison``; ``kept`` has the outcome of each part."""
    raced = {part: PartRace(techniques=comparison.techniques, race=race) for part, race in races.items()}
    claims = outcomes(comparison, raced)
    return Rerun(
        kept=kept,
        comparison=_as_raced(comparison, raced.values()),
        claims=claims,
        tables=tuple(table_outcome(comparison, raced.get(table.part), table) for table in comparison.tables),
        family=sum(claim.now is not None and claim.now.low is not None for claim in claims),
        confidence=CONFIDENCE,
        mixes=tuple(filter(None, (mix_outcome(comparison, raced.get(mix.part), mix) for mix in comparison.mixes))),
        host=next((race.host for race in races.values()), None),
    )


def _as_raced(comparison: Comparison, races: Iterable[PartRace]) -> Comparison:
    """Return ``comparison`` without the substitutes of originals that ran: in these races they are not gone."""
    techniques = dict(comparison.techniques)
    for race in races:
        for key, technique in techniques.items():
            if technique.original and race.path(key) == technique.original:
                techniques[key] = replace(technique, path=technique.original, gone=None, instead=None)
    return replace(comparison, techniques=techniques)


def outcomes(
    comparison: Comparison, races: Mapping[str, PartRace], *, ended: bool = True
) -> tuple[ClaimOutcome, ...]:
    """Return the results of ``races``, by part, for each claim; unless ``ended``, only planned looks count."""
    found: dict[Claim, Finding | None] = {}
    for part, race in races.items():
        found |= _family_findings(comparison, part, race, ended=ended)
    return tuple(_outcome(races.get(claim.part), claim, found.get(claim)) for claim in comparison.claims)


def ruling(kind: Kind, finding: Finding) -> Ruling:
    """Return the ruling on a claim of ``kind`` from ``finding``.

    "More" holds if the ratio is more and is reversed if it is less; "less" the other way round. No difference that
    matters answers both, and so does the exclusion of one on the claimed side. "No more" and "the same" hold by no
    difference that matters. "No more" also holds by less, or if no difference that matters lies above one.
    """
    return _RULINGS[kind].get(finding.answer, _half(kind, finding))


def _half(kind: Kind, finding: Finding) -> Ruling:
    """Return the ruling by one limit if the other one leaves it open."""
    excluded = finding.at_least if kind is Kind.LESS else finding.at_most and kind is not Kind.SAME
    if not excluded:
        return Ruling.UNDECIDED
    return Ruling.HOLDS if kind is Kind.NO_MORE else Ruling.NOT_SO


_RULINGS = {
    Kind.MORE: {Answer.MORE: Ruling.HOLDS, Answer.LESS: Ruling.REVERSED, Answer.SAME: Ruling.SAME},
    Kind.LESS: {Answer.MORE: Ruling.REVERSED, Answer.LESS: Ruling.HOLDS, Answer.SAME: Ruling.SAME},
    Kind.NO_MORE: {Answer.MORE: Ruling.REVERSED, Answer.LESS: Ruling.HOLDS, Answer.SAME: Ruling.HOLDS},
    Kind.SAME: {Answer.MORE: Ruling.REVERSED, Answer.LESS: Ruling.REVERSED, Answer.SAME: Ruling.HOLDS},
}


def _outcome(raced: PartRace | None, claim: Claim, finding: Finding | None) -> ClaimOutcome:
    if raced is None:
        return ClaimOutcome(claim=claim, ruling=Ruling.NOT_MEASURED, gap=Gap(cause=Cause.NOT_RUN))
    if not claim.kind.is_ratio:
        return _survival_outcome(raced, claim)
    if finding is None:
        return ClaimOutcome(claim=claim, ruling=Ruling.NOT_MEASURED, gap=_gap(raced, claim))
    ruled = ruling(claim.kind, finding)
    return ClaimOutcome(
        claim=claim,
        ruling=ruled,
        now=finding.ratio,
        blocks=finding.blocks,
        difference=raced.race.difference,
        more_s=_more_s(raced.race, finding) if ruled is Ruling.UNDECIDED else None,
    )


def _more_s(race: Race, finding: Finding) -> float | None:
    """Return the seconds of the further blocks: each as long as the last whole one, by its number of slices."""
    if finding.more_blocks is None:
        return None
    slices = Counter(launch.block for launch in race.launches if not launch.cut_short for _ in launch.slices)
    # the budget may have cut the last one
    whole = sorted(slices)[-2:][0]
    return finding.more_blocks * race.elapsed_s * slices[whole] / slices.total()


def _gap(raced: PartRace, claim: Claim) -> Gap:
    missing = next((cell for cell in claim.cells if not raced.values(cell, claim.metric)), None)
    return Gap(cause=Cause.NEVER_MET) if missing is None else raced.gap(missing)


def _survival_outcome(raced: PartRace, claim: Claim) -> ClaimOutcome:
    """Return the outcome of a claim of failing or living, from died launches and each launch's share of errors.

    The cell fails if at least half of its launches do, and lives if none does. Anything between is undecided, and
    so is a single launch.
    """
    survived = raced.survival(claim.this)
    failed, launches = survived.failed, survived.launches
    if not launches:
        return ClaimOutcome(claim=claim, ruling=Ruling.NOT_MEASURED, gap=raced.gap(claim.this))
    several = launches >= _LEAST_LAUNCHES
    fails, lives = several and 2 * failed >= launches, several and failed == 0
    claimed, contrary = (fails, lives) if claim.kind is Kind.FAILS else (lives, fails)
    return ClaimOutcome(
        claim=claim,
        ruling=Ruling.HOLDS if claimed else Ruling.REVERSED if contrary else Ruling.UNDECIDED,
        blocks=launches,
        survival=survived,
        difference=FAILING_SHARE,
    )


def _family_findings(
    comparison: Comparison, part: str, raced: PartRace, *, ended: bool
) -> dict[Claim, Finding | None]:
    """Return the finding for each ratio claimed of ``part``; None for one without a common block.

    All claims of a comparison are one family; each part may spend the share of its error rate that its claims have
    among all. So a part can be judged while it is raced, before others are.
    """
    by_metric: dict[Metric, list[Claim]] = {}
    for claim in comparison.claims:
        if claim.part == part and claim.kind.is_ratio:
            by_metric.setdefault(claim.metric, []).append(claim)
    panels = [_panel(comparison, raced, metric, claims) for metric, claims in by_metric.items()]
    said = findings(panels, difference=raced.race.difference, share=_share_of(comparison, part), ended=ended)
    return dict(zip(chain.from_iterable(by_metric.values()), said, strict=True))


def _share_of(comparison: Comparison, part: str) -> float:
    """Return the share of the family's error rate that ``part`` may spend; a pair that is claimed twice counts
    once."""
    pairs = {
        (claim.part, claim.metric, frozenset(claim.cells)) for claim in comparison.claims if claim.kind.is_ratio
    }
    return sum(key == part for key, _, _ in pairs) / max(len(pairs), 1)


def _panel(comparison: Comparison, raced: PartRace, metric: Metric, claims: Sequence[Claim]) -> Panel:
    """Return the cells of ``claims``, and of tables with the same part and metric, with their values."""
    spoken_of = [cell for claim in claims for cell in claim.cells]
    for table in comparison.tables:
        if (table.part, table.metric) == (claims[0].part, metric):
            spoken_of += table.cells
    cells = {raced.raced_as(cell): cell for cell in spoken_of}
    order = list(cells)
    contrasts = [
        (order.index(this), order.index(that))
        for this, that in (map(raced.raced_as, claim.cells) for claim in claims)
    ]
    rows: Array = np.full((len(cells), raced.blocks), np.nan)
    for row, cell in zip(rows, cells.values(), strict=True):
        for block, value in raced.values(cell, metric).items():
            row[block] = value
    least = _LONGEST_FROM if metric is Metric.LONGEST else 0
    return Panel(values=rows, group=_groups(order, contrasts), contrasts=contrasts, least=least)


def _groups(cells: Sequence[RacedCell], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the numbers of the groups: cells under one load, which were measured close together, and cells that
    claims compare."""
    group = list(range(len(cells)))
    first: dict[tuple[str, int], int] = {}
    same_load = [(first.setdefault(cell[1:], at), at) for at, cell in enumerate(cells)]
    for first_cell, second_cell in (*same_load, *pairs):
        kept, gone = group[first_cell], group[second_cell]
        group = [kept if name == gone else name for name in group]
    return group
