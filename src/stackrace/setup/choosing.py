"""Which stacks are raced, and at which levels: the ones asked for, or what suits the page and the budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..deploy.installation import require
from ..model.errors import InputError, MissingError, StackError
from ..model.load import Load
from ..model.race import Cell, Resources
from ..model.stack import Interface, Stack
from ..model.workload import Workload
from ..race.forecast import ForecastInput, forecast_input, likely_stacks
from ..race.pace import Parallelism, parallelism_of, response_s
from ..servers import Catalogue
from ..spec.request import RaceRequest
from ..spec.stack_path import parse_stack
from .defaults import LONGEST_RESPONSE_S, MOST_STACKS, SLOW_CONCURRENCY, STACKS, budget_s_of, levels_of
from .examined import ExaminedApp

__all__ = ["Choice", "asked", "choose", "levels_for", "most_used", "number_for"]

ANY = frozenset(Interface)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What may be raced."""

    candidates: tuple[Stack, ...]
    """Stacks that are ready, in the order in which they are taken."""
    number: int
    """How many of them are raced."""
    levels: tuple[int, ...]
    """Numbers of connections, ascending."""


def choose(request: RaceRequest, examined: ExaminedApp, catalogue: Catalogue, cores: Resources) -> Choice:
    """Choose stacks and levels for the examined app. Raises StackError, MissingError or InputError."""
    offered, python = examined.app.interfaces, examined.python_minor
    if request.stacks is None:
        candidates = most_used(catalogue, offered, python)
    else:
        candidates = asked(request.stacks, catalogue, offered, python)
    levels = levels_for(request, examined.workloads, parallelism_of(candidates, cores))
    number = number_for(request, candidates, examined.workloads, levels, cores)
    return Choice(candidates=candidates, number=number, levels=levels)


def asked(
    paths: Sequence[str],
    catalogue: Catalogue,
    offered: frozenset[Interface] = ANY,
    python: tuple[int, int] | None = None,
) -> tuple[Stack, ...]:
    """Return the stacks asked for; every server they need is installed.

    Raises StackError for a path that is not legal or given twice, MissingError with the install command.
    """
    stacks = [parse_stack(path, catalogue.specs, offered) for path in paths]
    for index, stack in enumerate(stacks):
        if stack in stacks[:index]:
            raise StackError(f"stack {stack.path!r} is given twice; give each once")
        require(stack, catalogue, python)
    return tuple(stacks)


def most_used(
    catalogue: Catalogue, offered: frozenset[Interface], python: tuple[int, int] | None
) -> tuple[Stack, ...]:
    """Return the most used stacks that are ready here and host the app; ``python`` is None for one without."""
    stacks: list[Stack] = []
    for path in STACKS:
        try:
            stack = parse_stack(path, catalogue.specs, offered)
            require(stack, catalogue, python)
        except (StackError, MissingError):
            continue
        stacks.append(stack)
    if not stacks:
        raise InputError("none of the most used stacks is ready here; see: stackrace stacks")
    return tuple(stacks[:MOST_STACKS])


def levels_for(request: RaceRequest, workloads: Iterable[Workload], parallelism: Parallelism) -> tuple[int, ...]:
    """Return the load levels asked for, or the first default ones at which no page takes too long to answer.

    Runs, whose length may be given level by level, keep the usual defaults.
    """
    usual = levels_of(request)
    if request.concurrency or request.repeats is not None:
        return usual
    pages = [workload.page for workload in workloads]

    def suits(levels: tuple[int, ...]) -> bool:
        return all(response_s(page, max(levels), parallelism) <= LONGEST_RESPONSE_S for page in pages)

    return next((levels for levels in (usual, *SLOW_CONCURRENCY) if suits(levels)), SLOW_CONCURRENCY[-1])


def number_for(
    request: RaceRequest,
    stacks: Sequence[Stack],
    workloads: Sequence[Workload],
    levels: Sequence[int],
    cores: Resources,
) -> int:
    """Return how many of ``stacks`` are raced: of those that nobody named, as many as the budget may answer."""
    budget_s = budget_s_of(request)
    if request.stacks is not None or request.repeats is not None or budget_s is None:
        return len(stacks)
    ahead = _forecast_input(request, stacks, workloads, levels, cores)
    return likely_stacks(ahead, budget_s, len(stacks))


def _forecast_input(
    request: RaceRequest,
    stacks: Sequence[Stack],
    workloads: Sequence[Workload],
    levels: Sequence[int],
    cores: Resources,
) -> ForecastInput:
    cells = [
        Cell(stack=stacks[0], workload=workload, load=Load(concurrency=level))
        for workload in workloads
        for level in levels
    ]
    return forecast_input(
        cells,
        parallelism_of(stacks, cores),
        difference=request.difference,
        twin=request.twin,
        fixed_slice_s=request.slice_s,
        alike=request.exhaustive,
    )
