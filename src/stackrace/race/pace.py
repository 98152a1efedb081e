"""How long answers take under load, and how long slices must be to hold enough of them. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model.page_time import PageTime
from ..model.race import Cell, Resources
from ..model.stack import Stack
from .schedule import SLICE_S

__all__ = [
    "ENOUGH_ANSWERS",
    "MOST_SLICE_S",
    "Hands",
    "Lengths",
    "hands_of",
    "lengths_of",
    "response_s",
    "slice_needed_s",
]

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
class Hands:
    """What works on answers at a time: ``cores`` compute, and ``at_once`` requests are under way in the app."""

    cores: int
    at_once: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """The seconds that slices of the answer's own level need, and those of other levels.

    ``response_s`` is how long an answer takes at the first, under load; ``queue_s`` how long a stack then goes on
    computing answers that nobody waits for, when a slice ends.
    """

    slice_s: float = SLICE_S
    side_s: float = SLICE_S
    response_s: float = 0.0
    queue_s: float = 0.0


def hands_of(stacks: Sequence[Stack], cores: Resources) -> Hands:
    """Return what every one of ``stacks`` has, as far as its settings tell: the fewest requests at once."""
    return Hands(cores=len(cores.stack_cores), at_once=min((_at_once(stack) for stack in stacks), default=1))


def _at_once(stack: Stack) -> int:
    """Processes times threads of the server that hosts the app; a process at least answers one at a time."""
    host = stack.hops[-1]
    processes = host.settings.get("workers", host.settings.get("processes", 1))
    return max(int(processes) * host.threads * host.instances, 1)


def response_s(page: PageTime, concurrency: int, hands: Hands) -> float:
    """Return how long an answer takes while ``concurrency`` connections ask all the time.

    At least what the app takes for it. More connections wait in turn: for the cores, of which each answer takes
    ``page.cpu_s`` seconds, or for a process or thread, which each answer takes for ``page.wall_s`` seconds.

    Source: the asymptotic bounds of a closed system, D. Lazowska et al., "Quantitative System Performance", 1984,
    chapter 5.
    """
    return max(page.wall_s, concurrency * page.cpu_s / hands.cores, concurrency * page.wall_s / hands.at_once)


def slice_needed_s(page: PageTime, concurrency: int, hands: Hands) -> float:
    """Return how long a slice must be: ``SLICE_S``, or as long as ``LEAST_ANSWERS`` take and ``LEAST_RESPONSES``.

    Response times count until the slice holds ``ENOUGH_ANSWERS``. ``MOST_SLICE_S`` is the longest.
    """
    response = response_s(page, concurrency, hands)
    between_s = response / concurrency  # from answer to answer, by Little's law
    steady_s = min(LEAST_RESPONSES * response, ENOUGH_ANSWERS * between_s)
    return min(max(SLICE_S, LEAST_ANSWERS * between_s, steady_s), MOST_SLICE_S)


def lengths_of(cells: Sequence[Cell], hands: Hands, *, alike: bool = False) -> Lengths:
    """Return how long slices of ``cells`` must be, the first workload's highest concurrency being the answer's own.

    Where all cells are ``alike``, all slices are as long as the most demanding of them.
    """
    needed = {cell.level: slice_needed_s(cell.workload.page, cell.load.concurrency, hands) for cell in cells}
    first = [cell for cell in cells if cell.workload.name == cells[0].workload.name]
    own = max(first, key=lambda cell: cell.load.concurrency)
    ahead = cells if alike else [own]
    sides_s = [_side_s(cell, hands) for cell in cells if cell.level != own.level]
    return Lengths(
        slice_s=max(needed.values()) if alike else needed[own.level],
        side_s=max(sides_s, default=SLICE_S),
        response_s=max(response_s(one.workload.page, one.load.concurrency, hands) for one in ahead),
        queue_s=max(one.workload.page.cpu_s * one.load.concurrency / hands.cores for one in ahead),
    )


def _side_s(cell: Cell, hands: Hands) -> float:
    """A level that the answer does not speak of is a point of a curve: ``SIDE_ANSWERS`` tell it."""
    response = response_s(cell.workload.page, cell.load.concurrency, hands)
    return min(max(SLICE_S, SIDE_ANSWERS * response / cell.load.concurrency), MOST_SLICE_S)
