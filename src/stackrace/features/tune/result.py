"""The answer of a race that tunes. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...base.numbers import Interval
from ...race.results.race import Race
from ...race.resume import counted
from .measurements import by_stack, grid_of_race, in_unit, needs_of, steps_of, unfit
from .model import GoalKind, Infeasible, Knob, Needs, Reference, Tuning, TuningGoal, tuning_of
from .stats.estimates import MainEffect, main_effects
from .stats.grid import Grid
from .stats.rounds import in_play
from .stats.verdict import Outcome, Verdict, verdict


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
class Effect:
    """What one setting does."""

    server: str
    name: str
    matters: bool
    """False where all its values are within the difference that does not matter, with 95 % confidence."""
    known: bool
    """Whether that is known: if not, it may or may not matter."""
    span: float
    """How far its best and its worst value lie apart on the average over the others: 0.2 for 20 %."""
    span_high: float | None = None
    """How far at most."""
    best: str = ""
    """Its best value on the average."""


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
    values: tuple[str | None, ...]
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
class Leading:
    """How a search stands while it goes on."""

    stack: str
    """The configuration that promises the most so far."""
    left: int
    """How many configurations may still be the best, this one and those that were not launched yet among them."""
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """The answer."""

    stack: str
    """The tuned path; empty where nothing was found."""
    settings: Mapping[str, str]
    """Its tuned settings by ``server.name``."""
    value: Interval | None
    """What it delivers, in the goal's own unit."""
    poor: float | None
    """What nine launches of ten deliver at least, in the same unit."""
    launches: int
    final_launches: int
    """Those that ``value`` and ``poor`` are from: the ones in the finals, by which it was not selected."""
    against: tuple[Against, ...]
    needs: Needs | None
    effects: tuple[Effect, ...]
    edges: tuple[Edge, ...]
    responses: tuple[Responded, ...]
    """The best first."""
    infeasible: tuple[Infeasible, ...]
    scattering: tuple[Scattering, ...]
    rivals: tuple[str, ...]
    """Others that may be better by more than the difference that matters."""
    equals: tuple[str, ...]
    """Others that are within the difference that does not matter, by what is known."""
    tried: int
    """How many configurations were launched."""
    of: int
    """How many there are within the limits."""


def tuned(race: Race) -> Tuned:
    """Return what ``race``, which has a ``tuning``, found so far."""
    tuning = tuning_of(race)
    race = counted(race)
    grid = grid_of_race(race)
    found = verdict(grid)
    infeasible = (*tuning.infeasible, *unfit(race))
    path = race.stacks[found.index] if found.index >= 0 else ""
    needs = _needs(race)
    return Tuned(
        stack=path,
        settings=_settings(tuning, path),
        value=_unit_interval(tuning.goal, found.value),
        poor=None if found.poor is None else in_unit(tuning.goal, math.log(found.poor)),
        launches=found.outcomes[found.index].launches if path else 0,
        final_launches=found.launches,
        against=tuple(_against(race, tuning, found, infeasible)),
        needs=needs.get(path),
        effects=tuple(
            _effect(knob, effect, grid) for knob, effect in zip(tuning.knobs, main_effects(grid), strict=True)
        ),
        edges=tuple(_edges(race, tuning, path, infeasible)),
        responses=tuple(_responses(race, tuning, found, needs)),
        infeasible=infeasible,
        scattering=tuple(
            Scattering(stack=race.stacks[i], mean=found.outcomes[i].relative, sd=math.expm1(found.outcomes[i].sd))
            for i in found.scattering
        ),
        rivals=tuple(race.stacks[i] for i in found.rivals),
        equals=tuple(race.stacks[i] for i in found.equal),
        tried=sum(
            bool(row.any()) for path, row in zip(race.stacks, grid.entered, strict=True) if path in tuning.settings
        ),
        of=_field(race, grid),
    )


def leading(race: Race) -> Leading | None:
    """Return how a search stands after the blocks of ``race``; None where nothing is known yet."""
    grid = grid_of_race(race)
    alive, expected = in_play(grid)
    if not alive.any():
        return None
    idle = {*grid.out, *grid.waiting}
    possible = [path in tuning_of(race).settings and i not in idle for i, path in enumerate(race.stacks)]
    fresh = sum(is_possible and not row.any() for is_possible, row in zip(possible, grid.entered, strict=True))
    best = max((i for i, may_be_best in enumerate(alive) if may_be_best), key=lambda i: float(expected.mean[i]))
    return Leading(stack=race.stacks[best], left=int(alive.sum()) + fresh, of=_field(race, grid))


def _field(race: Race, grid: Grid) -> int:
    """Return how many configurations there are, those of the reserve among them that raced."""
    return sum(path in tuning_of(race).settings and i not in grid.waiting for i, path in enumerate(race.stacks))


def _edges(race: Race, tuning: Tuning, chosen: str, infeasible: Sequence[Infeasible]) -> Iterator[Edge]:
    """Yield the settings whose best value is the last one tried, unless the server or a limit ends it there."""
    raced = by_stack(race)
    for d, knob in enumerate(tuning.knobs):
        value = tuning.settings[chosen][d] if chosen in tuning.settings else None
        if not knob.numeric or value is None or not value.isdecimal():
            continue

        def values(paths: Iterable[str], d: int = d) -> list[int]:
            found = (tuning.settings[path][d] for path in paths if path in tuning.settings)
            return [int(one) for one in found if one is not None and one.isdecimal()]

        tried, own = values(raced), int(value)
        beyond = values(one.stack for one in infeasible)
        for is_largest, end, last in ((True, knob.most, max(tried)), (False, knob.least, min(tried))):
            is_bound = any(other > own if is_largest else other < own for other in beyond)
            if own == last != end and min(tried) < max(tried) and not is_bound:
                yield Edge(server=knob.server, name=knob.name, value=value, is_largest=is_largest)


def _settings(tuning: Tuning, path: str) -> dict[str, str]:
    values = tuning.settings.get(path, ())
    return {f"{k.server}.{k.name}": v for k, v in zip(tuning.knobs, values, strict=False) if v is not None}


def _needs(race: Race) -> dict[str, Needs]:
    return {path: needs for path, launches in by_stack(race).items() if (needs := needs_of(launches)) is not None}


def _against(race: Race, tuning: Tuning, found: Verdict, infeasible: Sequence[Infeasible]) -> Iterator[Against]:
    beyond = {one.stack: one for one in infeasible}
    chosen = race.stacks[found.index] if found.index >= 0 else ""
    for reference in Reference:
        path = tuning.references.get(reference)
        if path is None:
            continue
        outcome: Outcome | None = found.outcomes[race.stacks.index(path)] if path in race.stacks else None
        yield Against(
            reference=reference,
            stack=path,
            ratio=_ratio(outcome) if path != chosen and chosen else None,
            is_same=path == chosen,
            infeasible=beyond.get(path),
        )


def _ratio(outcome: Outcome | None) -> Interval | None:
    """Return tuned ÷ reference; without limits where they met once only."""
    if outcome is None or not outcome.launches:
        return None
    return outcome.ratio or Interval(value=1 / outcome.relative)


def _responses(race: Race, tuning: Tuning, found: Verdict, needs: Mapping[str, Needs]) -> Iterator[Responded]:
    nowhere = (None,) * len(tuning.knobs)
    order = sorted(range(len(race.stacks)), key=lambda i: -_or_least(found.outcomes[i].response))
    for i in order:
        outcome, path = found.outcomes[i], race.stacks[i]
        if outcome.launches:
            yield Responded(
                stack=path,
                values=tuning.settings.get(path, nowhere),
                value=in_unit(tuning.goal, outcome.response),
                relative=outcome.relative,
                launches=outcome.launches,
                needs=needs.get(path),
            )


def _or_least(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _effect(knob: Knob, effect: MainEffect, grid: Grid) -> Effect:
    matters = effect.matters(grid.delta)
    steps = dict(zip(steps_of(knob), knob.ladder, strict=True))
    return Effect(
        server=knob.server,
        name=knob.name,
        matters=matters is not False,
        known=matters is not None,
        span=math.expm1(effect.span),
        span_high=None if math.isinf(effect.high) else math.expm1(effect.high),
        best=steps.get(effect.best, ""),
    )


def _unit_interval(goal: TuningGoal, interval: Interval | None) -> Interval | None:
    """Return an interval of exp(response) in the goal's own unit, where less may be better."""
    if interval is None or goal.kind is GoalKind.THROUGHPUT:
        return interval
    low, high = (None if end is None or end <= 0 else 1 / end for end in (interval.high, interval.low))
    return Interval(value=1 / interval.value, low=low, high=high)
