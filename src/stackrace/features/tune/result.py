"""The answer of a race that tunes. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...base.numbers import Interval, things
from ...race.results.race import Race
from ...race.resume import counted
from .estimates import Effect, main_effects
from .measurements import by_stack, grid_of, needs_of, unfit
from .model import Infeasible, Needs, Reference, Tuning, Values, tuning_of
from .search import state_of
from .verdict import Verdict, verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The tuned stack compared with a reference."""

    reference: Reference
    stack: str
    ratio: Interval | None
    """Tuned ÷ reference, above 1 is better: of throughput, or of the inverse of latency or memory. Limits of 95 %
    where the two met in two blocks and more; None where the reference gave nothing."""
    is_same: bool
    """Whether the reference is the tuned stack itself."""
    infeasible: Infeasible | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A setting whose tuned value is the last one that was tried, though the server takes others."""

    server: str
    name: str
    value: str
    is_largest: bool
    """Otherwise the smallest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Responded:
    """One configuration and what was measured of it."""

    stack: str
    values: Values
    """By knob."""
    value: float
    """In the goal's own unit: requests per second, seconds or bytes."""
    relative: float
    """Compared with the tuned stack, above 1 is better."""
    launches: int
    needs: Needs | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scattering:
    """A finalist with a better mean that lost because its launches scatter."""

    stack: str
    mean: float
    """Its mean compared with the tuned stack's."""
    sd: float
    """What a launch of it varies by, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """The answer."""

    stack: str = ""
    """The tuned path; empty where nothing was found."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Its tuned settings by ``server.name``."""
    value: Interval | None = None
    """What it delivers, in the goal's own unit."""
    poor: float | None = None
    """What nine launches of ten deliver at least, in the same unit."""
    launches: int = 0
    final_launches: int = 0
    """Those that ``value`` and ``poor`` are from: the ones in the finals, by which it was not selected."""
    against: tuple[Against, ...] = ()
    needs: Needs | None = None
    effects: tuple[Effect, ...] = ()
    edges: tuple[Edge, ...] = ()
    responses: tuple[Responded, ...] = ()
    """The best first."""
    infeasible: tuple[Infeasible, ...] = ()
    scattering: tuple[Scattering, ...] = ()
    rivals: tuple[str, ...] = ()
    """Others that may be better by more than the difference that matters."""
    equals: tuple[str, ...] = ()
    """Others that are within the difference that does not matter, by what is known."""
    tried: int = 0
    """How many configurations were launched."""
    of: int
    """How many there are within the limits."""


def tuned(race: Race) -> Tuned:
    """Return what ``race``, which has a ``tuning``, found so far."""
    tuning, race = tuning_of(race), counted(race)
    grid, raced = grid_of(race), by_stack(race)
    found = verdict(grid)
    infeasible = (*tuning.infeasible, *unfit(race))
    unanswered = Tuned(
        against=tuple(_against(race, tuning, found, {one.stack: one for one in infeasible})),
        effects=main_effects(grid, tuning.knobs),
        infeasible=infeasible,
        tried=len(raced.keys() & tuning.settings.keys()),
        of=grid.field,
    )
    if found is None:
        return unanswered
    goal, stacks, known = tuning.goal, race.stacks, found.state.known
    path = stacks[found.index]
    chosen = tuning.settings[path]
    responses = [
        Responded(
            stack=stacks[i],
            values=tuning.settings.get(stacks[i], (None,) * len(tuning.knobs)),
            value=goal.in_unit(found.value.value * found.relative(i)),
            relative=found.relative(i),
            launches=int(known.count[i]),
            needs=needs_of(raced[stacks[i]]),
        )
        for i in map(int, np.flatnonzero(known.count))
    ]
    return replace(
        unanswered,
        stack=path,
        settings={str(knob): value for knob, value in zip(tuning.knobs, chosen, strict=True) if value is not None},
        value=goal.interval(found.value),
        poor=None if found.poor is None else goal.in_unit(found.poor),
        launches=int(known.count[found.index]),
        final_launches=found.launches,
        needs=needs_of(raced[path]),
        edges=tuple(_edges(tuning, chosen, raced, [one.stack for one in infeasible])),
        responses=tuple(sorted(responses, key=lambda one: -one.relative)),
        scattering=tuple(
            Scattering(stack=stacks[i], mean=found.relative(i), sd=math.expm1(known.sd[i]))
            for i in found.scattering
        ),
        rivals=tuple(stacks[i] for i in found.state.rivals(found.index)),
        equals=tuple(stacks[i] for i in found.equals),
    )


def _against(
    race: Race, tuning: Tuning, found: Verdict | None, beyond: Mapping[str, Infeasible]
) -> Iterator[Against]:
    for reference in Reference:
        if (path := tuning.references.get(reference)) is None:
            continue
        i = race.stacks.index(path) if path in race.stacks else None
        is_same = found is not None and i == found.index
        ratio = None
        if found is not None and i is not None and not is_same and found.state.known.count[i]:
            # without limits where they met once only
            ratio = found.ratio(i) or Interval(value=1 / found.relative(i))
        yield Against(reference=reference, stack=path, ratio=ratio, is_same=is_same, infeasible=beyond.get(path))


def _edges(tuning: Tuning, chosen: Values, raced: Iterable[str], beyond: Collection[str]) -> Iterator[Edge]:
    """Yield the settings whose best value is the last one tried, unless the server or a limit ends it there."""
    for d, knob in enumerate(tuning.knobs):

        def numbers(paths: Iterable[str], d: int = d) -> list[int]:
            values = (tuning.settings[path][d] for path in paths if path in tuning.settings)
            return [int(value) for value in values if value is not None and value.isdecimal()]

        value = chosen[d]
        if not knob.numeric or value is None or not value.isdecimal():
            continue
        tried, bounds, own = numbers(raced), numbers(beyond), int(value)
        for is_largest, end, last, is_bound in (
            (True, knob.most, max(tried), max(bounds, default=own) > own),
            (False, knob.least, min(tried), min(bounds, default=own) < own),
        ):
            if own == last != end and min(tried) < max(tried) and not is_bound:
                yield Edge(server=knob.server, name=knob.name, value=value, is_largest=is_largest)


def leading(race: Race) -> str:
    """Return how a search stands after the blocks of ``race``, for a line; empty where nothing is known yet.

    For example: ``gunicorn:workers=3 leads, 5 of 36 configurations left``: that many may still be the best, those
    that were not launched yet among them.
    """
    race = counted(race)
    grid = grid_of(race)
    state = state_of(grid)
    if not state.alive.any():
        return ""
    idle = {*grid.out, *grid.waiting, *grid.strangers}
    fresh = sum(i not in idle and not row.any() for i, row in enumerate(grid.entered))
    best = race.stacks[state.top(1, state.expected.mean)[0]]
    left = int(state.alive.sum()) + fresh
    return f"{best} leads, {left} of {things(grid.field, 'configuration')} left"
