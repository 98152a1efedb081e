"""Response times under load, and the slices long enough for them. Pure arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ...measure.workload import Burst, PageTime
from ..plan import Cell, RacePlan

SLICE_S = 0.2
"""The usual slice, long enough for quick pages. On machines with unsteady speed longer slices give no better
results: docs/decisions/0030-short-slices-many-turns.md has the measurement."""

_LEAST_ANSWERS = 20
"""Fewest answers in a slice: counting whole answers then adds an SD of 2 % to the 10 % by which slices differ
anyway."""

_SIDE_ANSWERS = 10
"""Answers that a slice of a side level needs: one point of a curve, within some 5 %."""

_ENOUGH_ANSWERS = 40
"""Answers with which a slice is long enough, however long each of them takes."""

_LEAST_RESPONSES = 3
"""Response times that a slice needs, so that most of its requests also started in it."""

MOST_SLICE_S = 30.0
"""The longest slice: longer ones put too much time between compared stacks, and leave too few blocks."""

_WAITS_SIDE_BY_SIDE = 1.2
"""Factor over the response time with one connection, up to which a request did not wait for others."""

_TRUSTED = 1.5
"""Factor by which a warm-up may be wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceLengths:
    """Intended lengths of slices, and the response times that they follow."""

    slice_s: float = SLICE_S
    """Length at the headline level."""
    side_s: float = SLICE_S
    """Length at other levels."""
    response_s: float = 0.0
    """Time of an answer at the headline level, under load."""
    round_s: float = 0.0
    """Time between rounds of answers that come together; slices hold whole rounds. 0: they come one by one."""
    queue_s: float = 0.0
    """Time that a stack goes on computing unwanted answers after a slice."""
    fixed: bool = False
    """True if the user set the length: then no slice is shortened."""


USUAL_LENGTHS = SliceLengths()
"""Lengths for quick pages."""


def headline(cells: Sequence[Cell]) -> Cell:
    """Return a cell of the headline level: the first workload at its highest concurrency."""
    first = cells[0].workload.name
    return max((cell for cell in cells if cell.workload.name == first), key=lambda cell: cell.load.concurrency)


def response_s(page: PageTime, concurrency: int, cores: int) -> float:
    """Return the response time while ``concurrency`` connections always have a request.

    Bursts measure response times. Between two bursts, a response takes as long as with fewer connections, or longer
    if the rate of the burst with more is the limit. Beyond the last burst it takes no longer if that served all
    requests at once; else the rate stays the same. Without bursts, a response takes at least the app's own time
    (``page.wall_s``), and as long as all requests together need the ``cores``, each for ``page.cpu_s`` seconds.

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
    """Return pairs of connections and response time; it never decreases as connections increase."""
    points = [(burst.connections, burst.response_s) for burst in page.bursts]
    if points[0][0] > 1:
        points.insert(0, (1, min(page.wall_s, points[0][1])))
    return list(
        zip((connections for connections, _ in points), accumulate((s for _, s in points), max), strict=True)
    )


def at_once(page: PageTime, concurrency: int, cores: int) -> float:
    """Return the number of ``concurrency`` requests that are served at once, without waiting their turn."""
    longest_s = response_s(page, concurrency, cores)
    return concurrency * response_s(page, 1, cores) / longest_s if longest_s else concurrency


def round_s(page: PageTime, concurrency: int, cores: int) -> float:
    """Return the time between rounds of answers that come together; 0 if they come one by one, or in no time.

    Requests that start together and wait side by side are answered together: whole answers are counted by rounds.
    """
    alone_s = response_s(page, 1, cores)
    many = _LEAST_RESPONSES * at_once(page, concurrency, cores) > _ENOUGH_ANSWERS
    return alone_s if many and _LEAST_RESPONSES * alone_s > SLICE_S else 0.0


def _slice_needed_s(page: PageTime, concurrency: int, cores: int) -> float:
    """Return the length of a slice: at least ``SLICE_S``, the time of ``_LEAST_ANSWERS`` answers, and
    ``_LEAST_RESPONSES`` response times; at most ``MOST_SLICE_S``.

    Response times no longer count once the slice holds ``_ENOUGH_ANSWERS`` answers and ``_LEAST_RESPONSES`` rounds.
    """
    response = response_s(page, concurrency, cores)
    between_s = response / concurrency  # from answer to answer, by Little's law
    enough_s = max(_ENOUGH_ANSWERS * between_s, _LEAST_RESPONSES * round_s(page, concurrency, cores))
    steady_s = min(_LEAST_RESPONSES * response, enough_s)
    return min(max(SLICE_S, _LEAST_ANSWERS * between_s, steady_s), MOST_SLICE_S)


def heard(page: PageTime, concurrency: int, answers: int, seconds: float, cores: int) -> PageTime:
    """Return ``page`` corrected by a stack's own warm-up, which gave ``answers`` in ``seconds`` of load.

    A warm-up is short, and stacks are cold in part of it. So only large differences count: response times that
    differ by the factor ``_TRUSTED`` or more, and not by chance (two standard deviations of a Poisson count).
    """
    chance, planned_s = 2 * math.sqrt(answers), response_s(page, concurrency, cores)
    is_slower = concurrency * seconds > _TRUSTED * planned_s * (answers + chance + 1)
    # the first round of answers may only have begun
    is_slower = is_slower and seconds >= _TRUSTED * response_s(page, 1, cores)
    is_quicker = _TRUSTED * concurrency * seconds < planned_s * (answers - chance)
    if not is_slower and not is_quicker:
        return page
    response = concurrency * seconds / max(answers, 1)
    # response times never decrease as connections increase
    known = (1, *(burst.connections for burst in page.bursts if burst.connections > 1))
    below = [(each, min(response_s(page, each, cores), response)) for each in known]
    fewer = [Burst(connections=each, per_s=each / s) for each, s in below if each < concurrency and s > 0]
    return replace(page, bursts=(*fewer, Burst(connections=concurrency, per_s=concurrency / response)))


def lengths_of(
    cells: Sequence[Cell], cores: int, *, alike: bool = False, fixed_s: float | None = None
) -> SliceLengths:
    """Return the lengths of slices of ``cells``: as long as their pages need, or ``fixed_s``.

    The slowest stack decides. If all cells are ``alike``, the most demanding level decides, too.
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
    """Return the lengths for slices that all take ``slice_s``."""
    return SliceLengths(slice_s=slice_s, side_s=slice_s, fixed=True)


def planned_lengths(plan: RacePlan) -> SliceLengths:
    """Return the lengths for the slices of ``plan``."""
    return lengths_of(
        plan.cells(plan.stacks), len(plan.race.cores.stack_cores), alike=plan.race.exhaustive, fixed_s=plan.slice_s
    )


def _side_s(cell: Cell, cores: int) -> float:
    """Return the length at a side level, one point of a curve: the time of ``_SIDE_ANSWERS`` answers, or of two
    rounds."""
    page, concurrency = cell.workload.page, cell.load.concurrency
    between_s = response_s(page, concurrency, cores) / concurrency
    rounds_s = 2 * response_s(page, 1, cores) if at_once(page, concurrency, cores) > _SIDE_ANSWERS / 2 else 0.0
    return min(max(SLICE_S, _SIDE_ANSWERS * between_s, rounds_s), MOST_SLICE_S)
