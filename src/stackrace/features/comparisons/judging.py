"""From a comparison's races to what they say about each of its claims. Pure: nothing is measured here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ...race.results.race import Race
from .cells import FAILING_SHARE, gap, path_in, survival, values
from .claims import CONFIDENCE, Answer, Finding
from .family import family_findings
from .mix import mix_outcome
from .model import Claim, Comparison, Kind
from .rerun import Cause, ClaimOutcome, Gap, Mode, PartOutcome, Rerun, Ruling
from .tables import table_outcome

__all__ = ["judged", "outcomes", "ruling"]

_LEAST_LAUNCHES = 2
"""Claims of failing are not judged by fewer."""


def judged(
    comparison: Comparison,
    races: Mapping[str, Race],
    parts: tuple[PartOutcome, ...],
    *,
    id: str,
    made_at: str,
    mode: Mode,
) -> Rerun:
    """Return what ``races``, by part, say about ``comparison``; ``parts`` tells what became of each part."""
    claims = outcomes(comparison, races)
    return Rerun(
        id=id,
        made_at=made_at,
        mode=mode,
        comparison=_as_raced(comparison, races.values()),
        parts=parts,
        claims=claims,
        tables=tuple(table_outcome(comparison, races.get(table.part), table) for table in comparison.tables),
        family=sum(claim.now is not None and claim.now.low is not None for claim in claims),
        confidence=CONFIDENCE,
        mixes=tuple(filter(None, (mix_outcome(comparison, races.get(mix.part), mix) for mix in comparison.mixes))),
        host=next((race.host for race in races.values()), None),
    )


def _as_raced(comparison: Comparison, races: Iterable[Race]) -> Comparison:
    """Return ``comparison`` without the substitutes of originals that ran: where it was raced they are not gone."""
    techniques = dict(comparison.techniques)
    for race in races:
        for key, technique in techniques.items():
            if technique.original and path_in(race, technique) == technique.original:
                techniques[key] = replace(technique, path=technique.original, gone="", instead="")
    return replace(comparison, techniques=techniques)


def outcomes(comparison: Comparison, races: Mapping[str, Race], *, ended: bool = True) -> tuple[ClaimOutcome, ...]:
    """Return what ``races`` say of each claim; of races that have not ``ended`` only planned looks count."""
    findings: dict[Claim, Finding | None] = {}
    for part, race in races.items():
        findings |= family_findings(comparison, part, race, ended=ended)
    return tuple(
        _outcome(comparison, races.get(claim.part), claim, findings.get(claim)) for claim in comparison.claims
    )


def ruling(kind: Kind, finding: Finding) -> Ruling:
    """Return what ``finding`` says about a claim of ``kind``.

    More holds where the ratio is more and is reversed where it is less, and the other way round. No difference that
    matters answers both; so does that nothing which matters lies on the side that was claimed. "No more" and "the
    same" hold by no difference that matters, and no more by less, too, or where nothing that matters lies above
    one.
    """
    return _RULINGS[kind].get(finding.answer, _half(kind, finding))


def _half(kind: Kind, finding: Finding) -> Ruling:
    """Rule by one limit where the other one leaves it open."""
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


def _outcome(comparison: Comparison, race: Race | None, claim: Claim, finding: Finding | None) -> ClaimOutcome:
    if race is None:
        return ClaimOutcome(claim=claim, ruling=Ruling.NOT_MEASURED, gap=Gap(cause=Cause.NOT_RUN))
    if not claim.kind.is_ratio:
        return _survival_outcome(comparison, race, claim)
    if finding is None:
        return ClaimOutcome(claim=claim, ruling=Ruling.NOT_MEASURED, gap=_gap(comparison, race, claim))
    ruled = ruling(claim.kind, finding)
    return ClaimOutcome(
        claim=claim,
        ruling=ruled,
        now=finding.ratio,
        blocks=finding.blocks,
        difference=race.difference,
        more_s=_more_s(race, finding) if ruled is Ruling.UNDECIDED else None,
    )


def _more_s(race: Race, finding: Finding) -> float | None:
    """Return how long the blocks to come take: each as long as the last whole one, by its number of slices."""
    if finding.more_blocks is None:
        return None
    slices = Counter(launch.block for launch in race.launches if not launch.cut_short for _ in launch.slices)
    # the budget may have cut the last one
    whole = sorted(slices)[-2:][0]
    return finding.more_blocks * race.elapsed_s * slices[whole] / slices.total()


def _gap(comparison: Comparison, race: Race, claim: Claim) -> Gap:
    """Return which of the two cells has no value, and why; or that they never met."""
    assert claim.that is not None
    for cell in (claim.this, claim.that):
        path = path_in(race, comparison.techniques[cell.technique])
        if not values(race, path, cell, claim.metric):
            return gap(race, path, cell)
    return Gap(cause=Cause.NEVER_MET)


def _survival_outcome(comparison: Comparison, race: Race, claim: Claim) -> ClaimOutcome:
    """Judge a claim of failing or living: by launches that died, and by each launch's share of errors.

    It fails where at least half of its launches do, and lives where none does; anything between cannot be told, and
    nothing by a single launch.
    """
    path = path_in(race, comparison.techniques[claim.this.technique])
    survived = survival(race, path, claim.this)
    failed, launches = survived.failed, survived.launches
    if not launches:
        return ClaimOutcome(claim=claim, ruling=Ruling.NOT_MEASURED, gap=gap(race, path, claim.this))
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
