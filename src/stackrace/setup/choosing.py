"""Which stacks are raced, and at which levels: the ones asked for, or what suits the page and the budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..deploy.installation import require, require_fit, unready
from ..model.errors import InputError, StackError
from ..model.load import Load
from ..model.page_time import PageTime
from ..model.race import Cell, LeftOut, Resources
from ..model.stack import Interface, Stack
from ..model.workload import Workload
from ..race.loading import launch_s
from ..race.pace import Parallelism, parallelism_of, response_s
from ..servers import Catalogue, catalogue
from ..spec.request import RaceRequest
from ..spec.stack_path import parse_stack
from .cores import usable_cores
from .defaults import LONGEST_RESPONSE_S, MOST_STACKS, SLOW_CONCURRENCY, STACKS, budget_s_of, levels_of
from .examined import ExaminedApp

if TYPE_CHECKING:
    from ..race.forecast import ForecastInput

__all__ = ["Choice", "asked", "choose", "levels_for", "most_used", "number_for", "ready_stack"]

ANY = frozenset(Interface)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What may be raced."""

    candidates: tuple[Stack, ...]
    """Stacks that are ready, in the order in which they are taken."""
    left_out: tuple[LeftOut, ...]
    """Stacks that nobody named and that would come before the last of these, were they ready."""
    number: int
    """How many of them are raced."""
    levels: tuple[int, ...]
    """Numbers of connections, ascending."""
    current: str = ""
    """The path of the one that the project runs today; empty where none is."""


def choose(
    request: RaceRequest,
    examined: ExaminedApp,
    catalogue: Catalogue,
    cores: Resources,
    current: Stack | None = None,
) -> Choice:
    """Choose stacks and levels for the examined app; ``current``, which is run today, is raced in any case.

    Raises StackError, MissingError or InputError.
    """
    offered, interpreter = examined.app.interfaces, examined.interpreter
    python = None if interpreter is None else interpreter.minor
    left_out: tuple[LeftOut, ...] = ()
    if request.stacks is None:
        candidates, left_out = _most_used(catalogue, offered, python)
    else:
        candidates = asked(request.stacks, catalogue, offered, python, request.folder)
    if current is not None:
        candidates = _beside(current, candidates, most=MOST_STACKS if request.stacks is None else None)
    levels = levels_for(request, examined.workloads, parallelism_of(candidates, cores))
    number = number_for(request, candidates, examined.workloads, levels, cores, examined.loading)
    path = "" if current is None else candidates[0].path
    return Choice(candidates=candidates, left_out=left_out, number=number, levels=levels, current=path)


def _beside(current: Stack, others: Sequence[Stack], most: int | None) -> tuple[Stack, ...]:
    """Return ``current`` and the others, ``most`` in all; where one of them is the same, that is the current."""
    same = next((other for other in others if other.identity == current.identity), current)
    return (same, *(other for other in others if other is not same))[:most]


def asked(
    paths: Sequence[str],
    catalogue: Catalogue,
    offered: frozenset[Interface] = ANY,
    python: tuple[int, int] | None = None,
    folder: Path | None = None,
) -> tuple[Stack, ...]:
    """Return the stacks asked for, whether their servers are installed or not: see ``needs``.

    Configuration files that they name are read where they are relative to ``folder``.

    Raises StackError for a path that is not legal or given twice, MissingError for one that cannot host ``python``.
    """
    stacks = [parse_stack(path, catalogue.specs, offered, folder) for path in paths]
    for index, stack in enumerate(stacks):
        _refuse_again(stack, stacks[:index])
        require_fit(stack, catalogue, python)
    return tuple(stacks)


def _refuse_again(stack: Stack, others: Sequence[Stack]) -> None:
    same = next((other for other in others if other.identity == stack.identity), None)
    if same is None:
        return
    if same.path == stack.path:
        raise StackError(f"stack {stack.path!r} is given twice; give each once")
    raise StackError(
        f"stacks {same.path!r} and {stack.path!r} are one: they differ in nothing but what a setting is anyway, "
        "with this app; give one of them"
    )


def ready_stack(path: str) -> Stack:
    """Return the stack at ``path``; raises StackError for an illegal one, MissingError where a server lacks."""
    stack = parse_stack(path, catalogue().specs, ANY)
    require(stack, catalogue())
    return stack


def most_used(
    catalogue: Catalogue, offered: frozenset[Interface], python: tuple[int, int] | None
) -> tuple[Stack, ...]:
    """Return the most used stacks that are ready here and host the app; ``python`` is None for one without."""
    return _most_used(catalogue, offered, python)[0]


def _most_used(
    catalogue: Catalogue, offered: frozenset[Interface], python: tuple[int, int] | None
) -> tuple[tuple[Stack, ...], tuple[LeftOut, ...]]:
    """Return the most used stacks that are ready here, and those of which something is missing."""
    stacks: list[Stack] = []
    left_out: list[LeftOut] = []
    for stack in _hosting(catalogue, offered):
        if len(stacks) == MOST_STACKS:
            break
        if reason := unready(stack, catalogue, python):
            left_out.append(LeftOut(stack=stack.path, reason=reason))
        else:
            stacks.append(stack)
    if not stacks:
        raise InputError("none of the most used stacks is ready here; see: stackrace stacks")
    return tuple(stacks), tuple(left_out)


def _hosting(catalogue: Catalogue, offered: frozenset[Interface]) -> Iterator[Stack]:
    """Yield the most used stacks that host the app, each once: for an ASGI app two spellings may be one stack."""
    identities = set()
    for path in STACKS:
        with suppress(StackError):
            stack = parse_stack(path, catalogue.specs, offered)
            if stack.identity not in identities:
                identities.add(stack.identity)
                yield stack


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
    loading: PageTime,
) -> int:
    """Return how many of ``stacks`` are raced: of those that nobody named, as many as the budget may answer.

    ``loading`` is what one process takes to load the app.
    """
    budget_s = budget_s_of(request)
    if request.stacks is not None or request.repeats is not None or budget_s is None:
        return len(stacks)
    from ..race.forecast import likely_stacks  # the statistics come with it, which verbs that only list do without

    ahead = _forecast_input(request, stacks, workloads, levels, cores, loading)
    return likely_stacks(ahead, budget_s, len(stacks))


def _forecast_input(
    request: RaceRequest,
    stacks: Sequence[Stack],
    workloads: Sequence[Workload],
    levels: Sequence[int],
    cores: Resources,
    loading: PageTime,
) -> ForecastInput:
    from ..race.forecast import forecast_input

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
        launch_s=launch_s(stacks, loading, len(usable_cores())),
        loading_s=loading.wall_s,
    )
