"""Race requests for the parts of a comparison, and the choice of cells that open claims still need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...base.errors import MissingError, StackraceError
from ...race.plan import Cell
from ...race.request.race_file import read_race_file
from ...race.request.request import RaceRequest
from ...race.results.race import Race
from ...stacks.stack import original_path
from .cells import PartRace, RacedCell
from .judging import outcomes
from .model import Claim, Comparison, Mix, Part, Table
from .rerun import ClaimOutcome, Mode

_TWIN_BLOCKS = 3
"""Blocks in which the hidden twin runs: enough to show whether a race sees a difference where there is none."""

_FAILING_LAUNCHES = 3
"""Launches with the same outcome that end the measurement of a claim of failing."""

_Check = Callable[[str], object]
"""Function that raises StackraceError for a stack path that cannot be raced here; its result is not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRequest:
    """A part's race."""

    request: RaceRequest
    left_out: tuple[str, ...] = ()
    """Sentences about the stacks that cannot run here."""


def part_request(comparison: Comparison, part: Part, mode: Mode, check: _Check) -> PartRequest:
    """Return the request for ``part``: the author's protocol, or, if quick, every cell within its budget.

    Stacks that ``check`` rejects are left out, and so are workloads without a stack. Originals of techniques that
    are gone are added beside their substitutes if ``check`` accepts them. Raises MissingError if no stack is left,
    and SpecError for an invalid race file.
    """
    request = read_race_file(part.file, lambda path: None)
    originals = {each.path: each.original for each in comparison.techniques.values() if each.original}
    raced: dict[str, list[str]] = {}
    left_out: list[str] = []
    for path in request.stacks or ():
        error = _refusal(path, check)
        raced[path] = [] if error else [path]
        if error:
            left_out.append(f"{path} is left out: {error.message}")
        if path in originals and _refusal(originals[path], check) is None:
            raced[path].append(originals[path])

    def here(paths: Sequence[str]) -> tuple[str, ...]:
        # two techniques may have the same original
        return tuple(dict.fromkeys(each for path in paths for each in raced[path]))

    if not any(raced.values()):
        raise MissingError(f"none of the stacks of {part.file.name} can be raced here", detail="\n".join(left_out))
    workloads = (
        replace(workload, stacks=None if workload.stacks is None else here(workload.stacks))
        for workload in request.workloads
    )
    request = replace(
        request,
        stacks=here(request.stacks or ()),
        workloads=tuple(workload for workload in workloads if workload.stacks != ()),
    )
    return PartRequest(request=_quick(request, part) if mode is Mode.QUICK else request, left_out=tuple(left_out))


def _refusal(path: str, check: _Check) -> StackraceError | None:
    try:
        check(path)
    except StackraceError as error:
        return error
    return None


def _quick(request: RaceRequest, part: Part) -> RaceRequest:
    """Return the request within the part's quick budget: interleaved slices, or fewer and shorter runs."""
    within = replace(
        request, repeats=None, run_requests=None, run_requests_at={}, run_s=None, budget_s=part.quick_s
    )
    if part.quick_repeats is not None:
        return replace(within, repeats=part.quick_repeats, run_requests=part.quick_requests)
    return replace(within, slice_s=part.quick_slice_s, exhaustive=True)


def still_open(comparison: Comparison, part: Part) -> Callable[[Race, Sequence[Cell]], Sequence[Cell]]:
    """Return the function that chooses the cells of each block of ``part``, by the results so far.

    The first block has every cell of a claim or a table. Later blocks have the cells of claims that are still open,
    if both of a claim's cells are available. In the first three blocks, the twin has the same cells as its
    original. If no claim is open, no cell is left.
    """

    def still(race: Race, cells: Sequence[Cell]) -> Sequence[Cell]:
        raced = PartRace(techniques=comparison.techniques, race=race)
        wanted = set(_open(comparison, part, raced, cells) if raced.blocks else _spoken_of(comparison, part, raced))
        if not any(cell.workload.name for cell in cells):
            # a race's only workload has no name
            wanted = {(path, "", concurrency) for path, _, concurrency in wanted}
        with_twin = raced.blocks < _TWIN_BLOCKS
        return [
            cell
            for cell in cells
            if _key(cell) in wanted and (with_twin or cell.stack.path == original_path(cell.stack.path))
        ]

    return still


def _key(cell: Cell) -> RacedCell:
    return original_path(cell.stack.path), cell.workload.name, cell.load.concurrency


def _spoken_of(comparison: Comparison, part: Part, raced: PartRace) -> Iterator[RacedCell]:
    entries: list[Claim | Table | Mix] = [*comparison.claims, *comparison.tables, *comparison.mixes]
    for entry in entries:
        if entry.part == part.key:
            yield from map(raced.raced_as, entry.cells)


def _open(comparison: Comparison, part: Part, raced: PartRace, cells: Sequence[Cell]) -> Iterator[RacedCell]:
    there = {cell.stack.path for cell in cells}
    for outcome in outcomes(comparison, {part.key: raced}, ended=False):
        if outcome.claim.part != part.key or _is_answered(outcome):
            continue
        spoken_of = [raced.raced_as(cell) for cell in outcome.claim.cells]
        if there.issuperset(path for path, *_ in spoken_of):
            yield from spoken_of


def _is_answered(outcome: ClaimOutcome) -> bool:
    return outcome.ruling.decides and (outcome.claim.kind.is_ratio or outcome.blocks >= _FAILING_LAUNCHES)
