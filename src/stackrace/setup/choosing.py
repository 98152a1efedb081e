"""Which stacks are raced, and at which levels: the ones asked for, or what suits the page and the budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..deploy.environments import Environments, Interpreter
from ..deploy.installation import require
from ..model.errors import InputError, MissingError, StackError
from ..model.load import Load
from ..model.race import Budget, Cell
from ..model.stack import Interface, Stack
from ..model.workload import Workload
from ..race.forecast import Prospect, likely_stacks, prospect_of
from ..race.pace import Hands, hands_of, response_s
from ..servers import Catalogue
from ..spec.request import RaceRequest
from ..spec.stack_path import parse_stack
from .defaults import BUDGET_S, CONCURRENCY, LONGEST_RESPONSE_S, MOST_STACKS, SLOW_CONCURRENCY, STACKS

__all__ = ["asked", "build", "levels_for", "most_used", "number_for", "requirements_of"]

ANY = frozenset(Interface)


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


def levels_for(request: RaceRequest, workloads: Iterable[Workload], hands: Hands) -> tuple[int, ...]:
    """Return the load levels asked for, or the first default ones at which no page takes too long to answer.

    Runs, whose length may be given level by level, keep the usual defaults.
    """
    if request.concurrency:
        return tuple(sorted(set(request.concurrency)))
    if request.repeats is not None:
        return CONCURRENCY
    pages = [one.page for one in workloads]

    def suits(levels: tuple[int, ...]) -> bool:
        return all(response_s(page, max(levels), hands) <= LONGEST_RESPONSE_S for page in pages)

    return next((levels for levels in (CONCURRENCY, *SLOW_CONCURRENCY) if suits(levels)), SLOW_CONCURRENCY[-1])


def number_for(
    request: RaceRequest,
    stacks: Sequence[Stack],
    workloads: Sequence[Workload],
    levels: Sequence[int],
    cores: Budget,
) -> int:
    """Return how many of ``stacks`` are raced: of those that nobody named, as many as the budget may answer."""
    if request.stacks is not None or request.repeats is not None:
        return len(stacks)
    ahead = _prospect(request, stacks, workloads, levels, cores)
    return likely_stacks(ahead, request.budget_s or BUDGET_S, len(stacks))


def _prospect(
    request: RaceRequest,
    stacks: Sequence[Stack],
    workloads: Sequence[Workload],
    levels: Sequence[int],
    cores: Budget,
) -> Prospect:
    cells = [
        Cell(stack=stacks[0], workload=workload, load=Load(concurrency=level))
        for workload in workloads
        for level in levels
    ]
    return prospect_of(
        cells,
        hands_of(stacks, cores),
        difference=request.difference,
        twin=request.twin,
        fixed_slice_s=request.slice_s,
        alike=request.exhaustive,
    )


def requirements_of(stack: Stack, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the PyPI requirements of all the stack's servers."""
    needed = {
        requirement
        for hop in stack.hops
        for requirement in catalogue.entries[hop.server].requirements(hop.settings)
    }
    return tuple(sorted(needed))


def build(stack: Stack, catalogue: Catalogue, environments: Environments, app: Interpreter | None) -> Path | None:
    """Return the folder of the environment that ``stack`` runs in, None without Python.

    Raises MissingError naming the stack whose packages cannot be installed.
    """
    if app is None:
        return None
    try:
        return environments.layered(app, requirements_of(stack, catalogue))
    except MissingError as error:
        raise MissingError(
            f"stack {stack.path!r}: its Python packages cannot be installed beside the app's; "
            "leave it out, or loosen the app's pins",
            detail=error.detail,
        ) from error
