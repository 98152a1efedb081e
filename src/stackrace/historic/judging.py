"""From a comparison's races to what they say about each of its claims. Pure: nothing is measured here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..model.comparison import (
    Claim,
    ClaimOutcome,
    Comparison,
    Kind,
    Metric,
    Mode,
    PartOutcome,
    Rerun,
    Ruling,
)
from ..model.host import HostFacts
from ..model.race import Race
from ..model.standing import Interval
from ..stats.ratio import CONFIDENCE, Contrast, ratios
from .cells import FAILING_SHARE, failures, path_in, values, why_not
from .mix import mix_note
from .tables import table_outcome

__all__ = ["LONGEST_FROM", "judged", "ruling"]

LEAST_LAUNCHES = 2
"""Claims of failing are not judged by fewer."""

LONGEST_FROM = 10
"""Blocks. The longest of a few thousand requests is an extreme value: with fewer of them no limits would hold."""


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
    found = [_met(comparison, races, claim) for claim in comparison.claims]
    limited = _limited(found)
    claims = tuple(_outcome(one, limited.get(i)) for i, one in enumerate(found))
    return Rerun(
        id=id,
        made_at=made_at,
        mode=mode,
        comparison=comparison,
        parts=parts,
        claims=claims,
        tables=tuple(table_outcome(comparison, races.get(table.part), table) for table in comparison.tables),
        family=sum(one.now is not None and one.now.low is not None for one in claims),
        confidence=CONFIDENCE,
        notes=tuple(filter(None, (mix_note(comparison, races.get(one.part), one) for one in comparison.mixes))),
        host=next((_host(race.host) for race in races.values()), ""),
    )


def ruling(kind: Kind, now: Interval, *, within: bool) -> Ruling:
    """Return what the ratio ``now`` with its limits says about a claim of ``kind``.

    More holds where the limits are above one and is reversed where they are below; less the other way round. The
    same holds where the limits are ``within`` what does not matter, and is reversed where they exclude one.
    """
    if now.low is None or now.high is None:
        return Ruling.UNDECIDED
    above, below = now.low > 1, now.high < 1
    if kind is Kind.SAME:
        return Ruling.HOLDS if within else Ruling.REVERSED if above or below else Ruling.UNDECIDED
    holds, reversed_ = (above, below) if kind is Kind.MORE else (below, above)
    return Ruling.HOLDS if holds else Ruling.REVERSED if reversed_ else Ruling.UNDECIDED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Met:
    """A claim with its paired differences, ln(this) − ln(that), by block; none where its race gives none."""

    claim: Claim
    race: Race | None
    this: str = ""
    that: str = ""
    differences: tuple[float, ...] = ()

    @property
    def contrast(self) -> Contrast:
        claim = self.claim
        return Contrast(
            this=(claim.part, self.this, claim.this),
            that=(claim.part, self.that, claim.that),
            differences=self.differences,
            group=(claim.part, claim.metric, claim.this.concurrency),
        )


def _met(comparison: Comparison, races: Mapping[str, Race], claim: Claim) -> _Met:
    race = races.get(claim.part)
    if race is None:
        return _Met(claim=claim, race=None)
    this = path_in(race, comparison.techniques[claim.this.technique])
    if claim.that is None:
        return _Met(claim=claim, race=race, this=this)
    that = path_in(race, comparison.techniques[claim.that.technique])
    first = values(race, this, claim.this, claim.metric)
    second = values(race, that, claim.that, claim.metric)
    both = [first[block] - second[block] for block in sorted(first.keys() & second.keys())]
    return _Met(claim=claim, race=race, this=this, that=that, differences=tuple(both))


def _limited(found: list[_Met]) -> dict[int, Interval]:
    """Return each measured ratio, by the claim's place: all limits from one family."""
    measured = {i: one for i, one in enumerate(found) if one.differences}
    bare = {i for i, one in measured.items() if one.claim.metric is Metric.LONGEST and _few(one)}
    family = [i for i in measured if i not in bare]
    limits = dict(zip(family, ratios([measured[i].contrast for i in family]), strict=True))
    for i in bare:
        value = ratios([measured[i].contrast])[0].value
        limits[i] = Interval(value=value)
    return limits


def _few(one: _Met) -> bool:
    return len(one.differences) < LONGEST_FROM


def _outcome(one: _Met, now: Interval | None) -> ClaimOutcome:
    if one.race is None:
        return ClaimOutcome(claim=one.claim, ruling=Ruling.NOT_MEASURED, reason="its part could not be run")
    if not one.claim.kind.is_ratio:
        return _survival(one)
    if now is None:
        return ClaimOutcome(claim=one.claim, ruling=Ruling.NOT_MEASURED, reason=_reason(one))
    bare = ClaimOutcome(
        claim=one.claim,
        ruling=Ruling.UNDECIDED,
        now=now,
        blocks=len(one.differences),
        difference=one.race.difference,
    )
    return replace(bare, ruling=ruling(one.claim.kind, now, within=bare.within))


def _reason(one: _Met) -> str:
    """Say which of the two cells has no value, and why; or that they never met."""
    assert one.race is not None and one.claim.that is not None
    for path, cell in ((one.this, one.claim.this), (one.that, one.claim.that)):
        if not values(one.race, path, cell, one.claim.metric):
            return f"{cell.technique} {why_not(one.race, path, cell)}"
    return "the two were never measured in the same block"


def _survival(one: _Met) -> ClaimOutcome:
    """Judge a claim of failing or living: by launches that died, and by each launch's share of errors.

    It fails where at least half of its launches do, and lives where none does; anything between cannot be told, and
    nothing by a single launch.
    """
    assert one.race is not None
    failed, seen, share = failures(one.race, one.this, one.claim.this)
    if not seen:
        reason = f"{one.claim.this.technique} {why_not(one.race, one.this, one.claim.this)}"
        return ClaimOutcome(claim=one.claim, ruling=Ruling.NOT_MEASURED, reason=reason)
    several = seen >= LEAST_LAUNCHES
    fails, lives = several and 2 * failed >= seen, several and failed == 0
    claimed, contrary = (fails, lives) if one.claim.kind is Kind.FAILS else (lives, fails)
    return ClaimOutcome(
        claim=one.claim,
        ruling=Ruling.HOLDS if claimed else Ruling.REVERSED if contrary else Ruling.UNDECIDED,
        blocks=seen,
        reason=f"{failed} of {seen} launches failed, {share:.2%} of all requests",
        difference=FAILING_SHARE,
    )


def _host(host: HostFacts) -> str:
    memory = host.memory_bytes / 1024**3
    virtual = f", {host.virtual}" if host.virtual else ""
    return f"{host.cpu}, {host.cores} cores, {memory:.0f} GiB, {host.system}{virtual}"
