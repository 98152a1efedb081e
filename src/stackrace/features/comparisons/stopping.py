"""Which cells of a part are still to be raced: those of claims that cannot be told yet. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...race.plan import Cell
from ...race.results.race import Race
from ...stacks.stack import original_path
from .cells import path_in
from .judging import outcomes
from .model import CellName, Claim, Comparison, Part
from .rerun import ClaimOutcome

__all__ = ["FAILING_LAUNCHES", "TWIN_BLOCKS", "still_open"]

TWIN_BLOCKS = 3
"""The hidden twin runs in so many blocks: enough to show that a race sees a difference where there is none."""

FAILING_LAUNCHES = 3
"""A claim of failing is not looked at any more after so many launches that agree."""

_Key = tuple[str, str, int]


def still_open(comparison: Comparison, part: Part) -> Callable[[Race, Sequence[Cell]], Sequence[Cell]]:
    """Return what chooses the cells of each block of ``part``, by what its race says so far.

    The first block has every cell that a claim or a table speaks of. Later ones have those of claims that cannot be
    told yet, as long as both of a claim's cells are there; the twin has its original's in the first three blocks.
    Where no claim is open nothing is left.
    """

    def still(race: Race, cells: Sequence[Cell]) -> Sequence[Cell]:
        launches = [launch for launch in race.launches if not launch.cut_short]
        blocks = 1 + max((launch.block for launch in launches), default=-1)
        wanted = set(_spoken_of(comparison, part, race) if not blocks else _open(comparison, part, race, cells))
        if not any(cell.workload.name for cell in cells):
            # a race's only workload has no name
            wanted = {(path, "", concurrency) for path, _, concurrency in wanted}
        return [
            cell for cell in cells
            if _key(cell) in wanted and (blocks < TWIN_BLOCKS or cell.stack.path == original_path(cell.stack.path))
        ]  # fmt: skip

    return still


def _key(cell: Cell) -> _Key:
    return original_path(cell.stack.path), cell.workload.name, cell.load.concurrency


def _named(comparison: Comparison, race: Race, cell: CellName) -> _Key:
    return path_in(race, comparison.techniques[cell.technique]), cell.workload, cell.concurrency


def _spoken_of(comparison: Comparison, part: Part, race: Race) -> Iterator[_Key]:
    for claim in comparison.claims:
        if claim.part == part.key:
            yield from _cells(comparison, race, claim)
    for table in comparison.tables:
        for row in table.rows if table.part == part.key else ():
            for level in table.levels:
                name = CellName(technique=row.technique, workload=row.workload, concurrency=level)
                yield _named(comparison, race, name)
    for mix in comparison.mixes:
        if mix.part == part.key:
            name = CellName(technique=mix.technique, workload=mix.workload, concurrency=mix.concurrency)
            yield _named(comparison, race, name)


def _open(comparison: Comparison, part: Part, race: Race, cells: Sequence[Cell]) -> Iterator[_Key]:
    there = {cell.stack.path for cell in cells}
    for outcome in outcomes(comparison, {part.key: race}, ended=False):
        own = _cells(comparison, race, outcome.claim) if outcome.claim.part == part.key else ()
        if own and there.issuperset(path for path, *_ in own) and not _is_answered(outcome):
            yield from own


def _is_answered(outcome: ClaimOutcome) -> bool:
    return outcome.ruling.decides and (outcome.claim.kind.is_ratio or outcome.blocks >= FAILING_LAUNCHES)


def _cells(comparison: Comparison, race: Race, claim: Claim) -> tuple[_Key, ...]:
    return tuple(_named(comparison, race, cell) for cell in (claim.this, claim.that) if cell is not None)
