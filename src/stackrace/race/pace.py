"""How long answers take under load, and how long slices must be to hold enough of them. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model.page_time import PageTime
from ..model.race import Cell, RacePlan, Resources
from ..model.stack import Stack
from .extent import headline

__all__ = [
    "ENOUGH_ANSWERS",
    "MOST_SLICE_S",
    "SLICE_S",
    "USUAL_LENGTHS",
    "Parallelism",
    "SliceLengths",
    "fixed_lengths",
    "lengths_of",
    "parallelism_of",
    "planned_lengths",
    "response_s",
    "slice_needed_s",
]

SLICE_S = 0.2
"""The usual slice, where the page needs no longer one. Where the machine's speed flickers a longer one tells no
more: docs/decisions/0030-short-slices-many-turns.md has the measurement."""

LEAST_ANSWERS = 20
"""In a slice: counting whole answers then adds an sd of 2 %, to the 10 % by which slices differ anyway."""

SIDE_ANSWERS = 10
"""In a slice of a level that the answer does not speak of: one point of a curve, within some 5 %."""

ENOUGH_ANSWERS = 40
"""With so many, a slice need not be any longer, however long each of them waits."""

LEAST_RESPONSES = 3
"""So many response times make a slice, so that most of its requests also began in it."""

MOST_SLICE_S = 30.0
"""Longer slices would put too much time between stacks that are compared, and leave too few blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """How much goes on at a time while answers are made."""

    cores: int
    requests: int
    """Under way in the app."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceLengths:
    """How long slices are meant to be, and what about the pages makes them so."""

    slice_s: float = SLICE_S
    """The length at the answer's level."""
    side_s: float = SLICE_S
    """The length at other levels."""
    response_s: float = 0.0
    """How long an answer takes at the answer's own level, under load."""
    queue_s: float = 0.0
    """How long a stack goes on computing answers that nobody waits for, when a slice ends."""
    fixed: bool = False
    """Whether somebody said how long slices are: then none is cut."""


USUAL_LENGTHS = SliceLengths()
"""Those of quick pages."""


def parallelism_of(stacks: Sequence[Stack], cores: Resources) -> Parallelism:
    """Return what every one of ``stacks`` has, as far as its settings tell: the fewest requests at once."""
    return Parallelism(
        cores=len(cores.stack_cores), requests=min((_requests_at_once(stack) for stack in stacks), default=1)
    )


def _requests_at_once(stack: Stack) -> int:
    """Processes times threads of the server that hosts the app; a process at least answers one at a time."""
    host = stack.hops[-1]
    processes = host.processes.most if host.processes else 1
    return max(processes * host.threads * host.instances, 1)


def response_s(page: PageTime, concurrency: int, parallelism: Parallelism) -> float:
    """Return how long an answer takes while ``concurrency`` connections ask all the time.

    At least what the app takes for it. More connections wait in turn: for the cores, of which each answer takes
    ``page.cpu_s`` seconds, or for a process or thread, which each answer takes for ``page.wall_s`` seconds.

    Source: the asymptotic bounds of a closed system, D. Lazowska et al., "Quantitative System Performance", 1984,
    chapter 5.
    """
    return max(
        page.wall_s, concurrency * page.cpu_s / parallelism.cores, concurrency * page.wall_s / parallelism.requests
    )


def slice_needed_s(page: PageTime, concurrency: int, parallelism: Parallelism) -> float:
    """Return how long a slice must be: ``SLICE_S``, or as long as ``LEAST_ANSWERS`` take and ``LEAST_RESPONSES``.

    Response times count until the slice holds ``ENOUGH_ANSWERS``. ``MOST_SLICE_S`` is the longest.
    """
    response = response_s(page, concurrency, parallelism)
    between_s = response / concurrency  # from answer to answer, by Little's law
    steady_s = min(LEAST_RESPONSES * response, ENOUGH_ANSWERS * between_s)
    return min(max(SLICE_S, LEAST_ANSWERS * between_s, steady_s), MOST_SLICE_S)


def lengths_of(
    cells: Sequence[Cell], parallelism: Parallelism, *, alike: bool = False, fixed_s: float | None = None
) -> SliceLengths:
    """Return how long slices of ``cells`` are to be: as long as their pages need, or ``fixed_s``.

    Where all cells are ``alike``, all slices are as long as the most demanding of them.
    """
    own = headline(cells)
    ahead = cells if alike else [own]
    needed_s = [slice_needed_s(cell.workload.page, cell.load.concurrency, parallelism) for cell in ahead]
    sides_s = [_side_s(cell, parallelism) for cell in cells if cell.level != own.level]
    return SliceLengths(
        slice_s=fixed_s or max(needed_s),
        side_s=fixed_s or max(sides_s, default=SLICE_S),
        response_s=max(_response_s(cell, parallelism) for cell in ahead),
        queue_s=max(cell.workload.page.cpu_s * cell.load.concurrency / parallelism.cores for cell in ahead),
        fixed=fixed_s is not None,
    )


def fixed_lengths(slice_s: float) -> SliceLengths:
    """Return the lengths where somebody said that all slices take ``slice_s``."""
    return SliceLengths(slice_s=slice_s, side_s=slice_s, fixed=True)


def planned_lengths(plan: RacePlan) -> SliceLengths:
    """Return how long the slices of ``plan`` are to be."""
    parallelism = parallelism_of(plan.stacks, plan.cores)
    return lengths_of(plan.cells(plan.stacks), parallelism, alike=plan.exhaustive, fixed_s=plan.slice_s)


def _response_s(cell: Cell, parallelism: Parallelism) -> float:
    return response_s(cell.workload.page, cell.load.concurrency, parallelism)


def _side_s(cell: Cell, parallelism: Parallelism) -> float:
    """A level that the answer does not speak of is a point of a curve: ``SIDE_ANSWERS`` tell it."""
    between_s = _response_s(cell, parallelism) / cell.load.concurrency
    return min(max(SLICE_S, SIDE_ANSWERS * between_s), MOST_SLICE_S)
