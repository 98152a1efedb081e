"""The claims of a comparison as one family: which cells each part lends variance between, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...race.results.race import Race
from .cells import path_in, values
from .claims import Finding, Sample, findings
from .evidence import LEAST_BLOCKS
from .model import CellName, Claim, Comparison, Metric

__all__ = ["family_findings", "share_of"]

_LONGEST_FROM = 10
"""Blocks. The longest of a few thousand requests is an extreme value: with fewer of them no limits would hold."""


def family_findings(
    comparison: Comparison, part: str, race: Race, *, ended: bool = True
) -> dict[Claim, Finding | None]:
    """Return what ``race`` says of each ratio that is claimed of ``part``; None of one without a common block.

    All claims of a comparison are one family; each part may spend of its error rate as its claims are of all. So
    a part can be judged while it is raced, before others are.
    """
    claims = [claim for claim in comparison.claims if claim.part == part and claim.kind.is_ratio]
    sets = [_Set.of(comparison, race, metric, claims) for metric in dict.fromkeys(claim.metric for claim in claims)]
    blocks = 1 + max((launch.block for launch in race.launches if not launch.cut_short), default=-1)
    results = findings(
        [each.sample for each in sets],
        blocks=blocks, difference=race.difference, share=share_of(comparison, part), ended=ended,
    )  # fmt: skip
    return dict(zip((claim for each in sets for claim in each.claims), results, strict=True)) if blocks else {}


def share_of(comparison: Comparison, part: str) -> float:
    """Return the share of the family's error rate that ``part`` may spend; a pair that is claimed twice counts
    once."""
    pairs = {
        (claim.part, claim.metric, frozenset((claim.this, claim.that)))
        for claim in comparison.claims
        if claim.kind.is_ratio
    }
    return sum(key == part for key, _, _ in pairs) / max(len(pairs), 1)


_Key = tuple[str, str, int]
"""A cell as it was raced: path, workload, concurrency. Two techniques may be raced by one path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Set:
    """The claims of one metric with the cells they rest on."""

    claims: tuple[Claim, ...]
    sample: Sample

    @classmethod
    def of(cls, comparison: Comparison, race: Race, metric: Metric, claims: Sequence[Claim]) -> _Set:
        """Gather the cells that claims and tables of ``metric`` speak of."""
        own = tuple(claim for claim in claims if claim.metric is metric)
        cells = {_key(comparison, race, cell): cell for cell in _spoken_of(comparison, own[0].part, metric, own)}
        order = list(cells)
        pairs = [
            (order.index(_key(comparison, race, claim.this)), order.index(_key(comparison, race, claim.that)))
            for claim in own if claim.that is not None
        ]  # fmt: skip
        sample = Sample(
            cells=[values(race, key[0], cell, metric) for key, cell in cells.items()],
            group=_groups(order, pairs),
            pairs=pairs,
            least=_LONGEST_FROM if metric is Metric.LONGEST else LEAST_BLOCKS,
        )
        return cls(claims=own, sample=sample)


def _key(comparison: Comparison, race: Race, cell: CellName) -> _Key:
    return path_in(race, comparison.techniques[cell.technique]), cell.workload, cell.concurrency


def _spoken_of(comparison: Comparison, part: str, metric: Metric, claims: Sequence[Claim]) -> Iterator[CellName]:
    for claim in claims:
        yield from (cell for cell in (claim.this, claim.that) if cell is not None)
    for table in comparison.tables:
        if (table.part, table.metric) == (part, metric):
            for row in table.rows:
                yield from (
                    CellName(technique=row.technique, workload=row.workload, concurrency=level)
                    for level in table.levels
                )


def _groups(cells: Sequence[_Key], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Number the groups: cells under one load, which were measured close together, and those that claims
    compare."""
    group = list(range(len(cells)))
    first: dict[tuple[str, int], int] = {}
    same_load = [(first.setdefault(cell[1:], at), at) for at, cell in enumerate(cells)]
    for first_cell, second_cell in (*same_load, *pairs):
        kept, gone = group[first_cell], group[second_cell]
        group = [kept if name == gone else name for name in group]
    return group
