"""How long answers take under load, and how long slices must be to hold enough of them. Pure arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ..measure.workload import Burst, PageTime
from .plan import Cell, RacePlan

SLICE_S = 0.2
"""The usual slice, where the page needs no longer one. Where the machine's speed flickers a longer one tells no
more: docs/decisions/0030-short-slices-many-turns.md has the measurement."""

_LEAST_ANSWERS = 20
"""In a slice: counting whole answers then adds an sd of 2 %, to the 10 % by which slices differ anyway."""

_SIDE_ANSWERS = 10
"""In a slice of a level that the answer does not speak of: one point of a curve, within some 5 %."""

_ENOUGH_ANSWERS = 40
"""With so many, a slice need not be any longer, however long each of them waits."""

_LEAST_RESPONSES = 3
"""So many response times make a slice, so that most of its requests also began in it."""

MOST_SLICE_S = 30.0
"""Longer slices would put too much time between stacks that are compared, and leave too few blocks."""

_WAITS_SIDE_BY_SIDE = 1.2
"""An answer that takes no longer than so many times as long as alone did not wait for others."""

_TRUSTED = 1.5
"""By such a factor a warm-up may be off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceLengths:
    """How long slices are meant to be, and what about the pages makes them so."""

    slice_s: float = SLICE_S
    """The length at the answer's level."""
    side_s: float = SLICE_S
    """The length at other levels."""
    response_s: float = 0.0
    """How long an answer takes at the answer's own level, under load."""
    round_s: float = 0.0
    """How far apart answers come where many come at once; slices hold whole rounds. 0: they come one by one."""
    queue_s: float = 0.0
    """How long a stack goes on computing answers that nobody waits for, when a slice ends."""
    fixed: bool = False
    """Whether somebody said how long slices are: then none is cut."""


USUAL_LENGTHS = SliceLengths()
"""Those of quick pages."""


def headline(cells: Sequence[Cell]) -> Cell:
    """Return a cell of the level that the answer speaks of: the first workload at its highest concurrency."""
    first = cells[0].workload.name
    return max((cell for cell in cells if cell.workload.name == first), key=lambda cell: cell.load.concurrency)


def response_s(page: PageTime, concurrency: int, cores: int) -> float:
    """Return how long an answer takes while ``concurrency`` connections ask all the time.

    Bursts say it. Between them fewer connections take as long as with the burst before, unless they wait for their
    turn, as with the one after. Beyond the last an answer takes no longer where all of its requests were served at
    once; else nothing more can be delivered. Without bursts an answer takes at least what
    the app takes for it, and waits in turn for the ``cores``, of which each takes ``page.cpu_s`` seconds.

    Source: J. D. C. Little, Operations Research 9 (1961); for the bounds of a closed system D. Lazowska et al.,
    "Quantitative System Performance", 1984, chapter 5.
    """
    if not page.bursts:
        return max(page.wall_s, concurrency * page.cpu_s / cores)
    points = _rising(page)
    (_, alone_s), (most, longest_s) = points[0], points[-1]
    if concurrency <= 1:
        return alone_s
    if concurrency >= most:
        return longest_s if longest_s <= _WAITS_SIDE_BY_SIDE * alone_s else longest_s * concurrency / most
    after = next(i for i, (connections, _) in enumerate(points) if connections >= concurrency)
    (_, quicker), (more, slower) = points[after - 1 : after + 1]
    return max(quicker, slower * concurrency / more)


def _rising(page: PageTime) -> list[tuple[int, float]]:
    """Return connections and how long an answer takes with them; it never takes longer with fewer."""
    points = [(burst.connections, burst.response_s) for burst in page.bursts]
    if points[0][0] > 1:
        points.insert(0, (1, min(page.wall_s, points[0][1])))
    return list(
        zip((connections for connections, _ in points), accumulate((s for _, s in points), max), strict=True)
    )


def at_once(page: PageTime, concurrency: int, cores: int) -> float:
    """Return how many of ``concurrency`` requests are served at once: those that do not wait for their turn."""
    longest_s = response_s(page, concurrency, cores)
    return concurrency * response_s(page, 1, cores) / longest_s if longest_s else concurrency


def round_s(page: PageTime, concurrency: int, cores: int) -> float:
    """Return how far apart answers come where many come at once; 0 where they come one by one, or in no time.

    Requests that begin together and wait side by side are answered together: whole answers are counted by rounds.
    """
    alone_s = response_s(page, 1, cores)
    many = _LEAST_RESPONSES * at_once(page, concurrency, cores) > _ENOUGH_ANSWERS
    return alone_s if many and _LEAST_RESPONSES * alone_s > SLICE_S else 0.0


def _slice_needed_s(page: PageTime, concurrency: int, cores: int) -> float:
    """Return how long a slice must be: ``SLICE_S``, or as long as ``_LEAST_ANSWERS`` take and ``_LEAST_RESPONSES``.

    Response times count until the slice holds ``_ENOUGH_ANSWERS``, and ``_LEAST_RESPONSES`` rounds of them.
    ``MOST_SLICE_S`` is the longest.
    """
    response = response_s(page, concurrency, cores)
    between_s = response / concurrency  # from answer to answer, by Little's law
    enough_s = max(_ENOUGH_ANSWERS * between_s, _LEAST_RESPONSES * round_s(page, concurrency, cores))
    steady_s = min(_LEAST_RESPONSES * response, enough_s)
    return min(max(SLICE_S, _LEAST_ANSWERS * between_s, steady_s), MOST_SLICE_S)


def heard(page: PageTime, concurrency: int, answers: int, seconds: float, cores: int) -> PageTime:
    """Return ``page`` as a stack's own warm-up tells it, which brought ``answers`` in ``seconds`` of load.

    A warm-up is short, and some of it is spent on becoming warm: it tells of other magnitudes only, ``_TRUSTED``
    times the response time or more, and not by chance (two standard deviations of a Poisson count).
    """
    chance, planned_s = 2 * math.sqrt(answers), response_s(page, concurrency, cores)
    is_slower = concurrency * seconds > _TRUSTED * planned_s * (answers + chance + 1)
    # the first round of answers may only have begun
    is_slower = is_slower and seconds >= _TRUSTED * response_s(page, 1, cores)
    is_quicker = _TRUSTED * concurrency * seconds < planned_s * (answers - chance)
    if not is_slower and not is_quicker:
        return page
    response = concurrency * seconds / max(answers, 1)
    # with fewer connections an answer takes no longer, with more no less
    known = (1, *(burst.connections for burst in page.bursts if burst.connections > 1))
    below = [(each, min(response_s(page, each, cores), response)) for each in known]
    fewer = [Burst(connections=each, per_s=each / s) for each, s in below if each < concurrency and s > 0]
    return replace(page, bursts=(*fewer, Burst(connections=concurrency, per_s=concurrency / response)))


def lengths_of(
    cells: Sequence[Cell], cores: int, *, alike: bool = False, fixed_s: float | None = None
) -> SliceLengths:
    """Return how long slices of ``cells`` are to be: as long as their pages need, or ``fixed_s``.

    The stack that needs the longest decides. Where all cells are ``alike``, so does the most demanding of levels.
    """
    own = headline(cells)
    ahead = [cell for cell in cells if alike or cell.level == own.level]
    slowest = max(ahead, key=lambda cell: _slice_needed_s(cell.workload.page, cell.load.concurrency, cores))
    sides_s = [_side_s(cell, cores) for cell in cells if cell.level != own.level]
    return SliceLengths(
        slice_s=fixed_s or _slice_needed_s(slowest.workload.page, slowest.load.concurrency, cores),
        side_s=fixed_s or max(sides_s, default=SLICE_S),
        round_s=round_s(slowest.workload.page, slowest.load.concurrency, cores),
        response_s=max(response_s(cell.workload.page, cell.load.concurrency, cores) for cell in ahead),
        queue_s=max(cell.workload.page.cpu_s * cell.load.concurrency / cores for cell in ahead),
        fixed=fixed_s is not None,
    )


def fixed_lengths(slice_s: float) -> SliceLengths:
    """Return the lengths where somebody said that all slices take ``slice_s``."""
    return SliceLengths(slice_s=slice_s, side_s=slice_s, fixed=True)


def planned_lengths(plan: RacePlan) -> SliceLengths:
    """Return how long the slices of ``plan`` are to be."""
    return lengths_of(
        plan.cells(plan.stacks), len(plan.race.cores.stack_cores), alike=plan.race.exhaustive, fixed_s=plan.slice_s
    )


def _side_s(cell: Cell, cores: int) -> float:
    """A level that the answer does not speak of is a point of a curve: ``_SIDE_ANSWERS`` tell it, in two rounds."""
    page, concurrency = cell.workload.page, cell.load.concurrency
    between_s = response_s(page, concurrency, cores) / concurrency
    rounds_s = 2 * response_s(page, 1, cores) if at_once(page, concurrency, cores) > _SIDE_ANSWERS / 2 else 0.0
    return min(max(SLICE_S, _SIDE_ANSWERS * between_s, rounds_s), MOST_SLICE_S)
