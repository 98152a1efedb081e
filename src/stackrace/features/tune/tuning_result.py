"""The choice among configurations, and the complete answer of a tuning, as pure functions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from ...base.numbers import Interval, things
from ...race.results.race import Race
from ...race.run.resume import counted
from ...stats.limits import critical, ratio_of
from ...stats.pairs import Array
from .estimates import Effect, Grid, Launched, launched, main_effects
from .measurements import by_stack, grid_of, needs_of, unfit
from .model import Infeasible, Needs, Reference, Tuning, Values, tuning_of
from .search import FINAL_LAUNCHES, State, finals, state_of

_POOR = 0.1
"""Share of launches that deliver less than the limit by which configurations are chosen."""

_Z = NormalDist().inv_cdf(1 - _POOR)
"""Standard deviations from the mean to that limit."""

_ALPHA = 0.05


def poor_launch(known: Launched) -> Array:
    """Return the lower limit for a further launch of each configuration: m − t·s·√(1 + 1/n), (K,).

    A one-sided prediction limit; t is the upper-``_POOR`` quantile with the degrees of freedom of s. Source: Hahn &
    Meeker 1991, Statistical Intervals, section 4.7.
    """
    n = np.maximum(known.count, 1)
    t = np.array([critical(2, float(df), 2 * _POOR) for df in known.df])
    return np.where(known.count >= 2, known.mean - t * known.sd * np.sqrt(1 + 1 / n), np.nan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """The choice, and the ratios of all configurations to it.

    The choice depends on all launches. The figures come from the finals alone, if the choice has two launches
    there: a configuration reaches the finals with launches better than usual, which would promise too much.

    Source: Capen, Clapp & Campbell 1971, Competitive bidding in high-risk situations, Journal of Petroleum
    Technology 23 (the winner's curse).
    """

    state: State
    index: int
    """Index of the chosen configuration."""
    last: Array
    """(K, B): the measurements of the finals; of all blocks if the choice has fewer than two launches there."""
    anew: Launched
    """Estimates from ``last``."""

    @property
    def launches(self) -> int:
        """Number of launches of the choice that ``value`` and ``poor`` come from."""
        return int(self.anew.count[self.index])

    @property
    def value(self) -> Interval:
        """The choice's mean, exp of its response, with limits of 95 %."""
        n, sd, df = self.launches, float(self.anew.sd[self.index]), float(self.anew.df[self.index])
        half = critical(2, df, _ALPHA) * sd / math.sqrt(n) if n > 1 else math.inf
        return ratio_of(float(self.anew.mean[self.index]), half)

    @property
    def poor(self) -> float | None:
        """Response, as exp, that nine launches of ten of the choice reach; None if it has only one launch."""
        lower = float(poor_launch(self.anew)[self.index])
        return None if math.isnan(lower) else math.exp(lower)

    def relative(self, i: int) -> float:
        """Return the mean of configuration ``i`` divided by the choice's, in the finals if it took part in them."""
        known = self.anew if self.anew.count[i] else self.state.known
        return math.exp(known.mean[i] - known.mean[self.index])

    def ratio(self, i: int) -> Interval | None:
        """Return the ratio of the choice to configuration ``i``, with limits of 95 %; from the finals if possible.

        exp(m ± t·√((s_i² + s_j²)/n)) over the n blocks in which both were measured; None if n < 2. The variances
        are shrunk towards the common one (`launched`), with Welch's degrees of freedom.

        Source: Welch 1938, Biometrika 29.
        """
        known, both = self.anew, self.last[self.index] - self.last[i]
        if np.isfinite(both).sum() < 2:
            values = self.state.grid.values
            known, both = self.state.known, values[self.index] - values[i]
        both = both[np.isfinite(both)]
        if i == self.index or len(both) < 2:
            return None
        variances, df = known.sd[[self.index, i]] ** 2, known.df[[self.index, i]]
        nu = float(variances.sum() ** 2 / (variances**2 / df).sum())
        # the scatter of the blocks may exceed the variance of launches
        seen = float(np.var(both, ddof=1)) if len(both) > 3 else 0.0
        variance = max(float(variances.sum()), seen)
        return ratio_of(float(both.mean()), critical(2, nu, _ALPHA) * math.sqrt(variance / len(both)))

    @property
    def scattering(self) -> tuple[int, ...]:
        """Finalists with a larger mean that lost because their launches scatter."""
        known = self.state.known
        if known.count[self.index] < FINAL_LAUNCHES:
            return ()
        ahead = self.state.alive & (known.count >= FINAL_LAUNCHES) & (known.mean > known.mean[self.index] + 1e-9)
        return tuple(int(i) for i in np.flatnonzero(ahead) if self.relative(int(i)) > 1)

    @property
    def equals(self) -> tuple[int, ...]:
        """Other configurations that are proved to be within the difference that does not matter."""
        delta, out = self.state.grid.delta, self.state.grid.out
        found = ((i, self.ratio(i)) for i in range(len(self.last)) if i not in out)
        return tuple(
            i
            for i, ratio in found
            if ratio is not None and ratio.low is not None and ratio.high is not None
            if math.log(ratio.high) <= delta and math.log(ratio.low) >= -delta
        )


def verdict(grid: Grid) -> Verdict | None:
    """Return the choice among the configurations of ``grid`` that may be the best; None if none was measured.

    The choice has the highest limit that nine launches of ten reach: `poor_launch` of a configuration with
    ``FINAL_LAUNCHES``. With fewer launches, the limit is ``_Z`` standard deviations below the response that is
    expected from its launches and those of similar configurations.
    """
    state = state_of(grid)
    if not state.alive.any():
        return None
    known, expected = state.known, state.expected
    unsure = expected.mean - _Z * np.hypot(expected.sd, known.sd)
    lower = np.where(known.count >= FINAL_LAUNCHES, poor_launch(known), unsure)
    index = int(np.where(state.alive & np.isfinite(lower), lower, -np.inf).argmax())
    blocks = finals(grid)
    last = grid.values[:, -blocks:] if blocks else grid.values
    last = last if np.isfinite(last[index]).sum() >= 2 else grid.values
    return Verdict(state=state, index=index, last=last, anew=launched(last))


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The tuned stack compared with a reference."""

    reference: Reference
    stack: str
    ratio: Interval | None
    """Ratio of the tuned stack to the reference, above 1 is better: of throughput, or of the inverse of latency or
    memory. Limits of 95 % if the two met in two or more blocks; None if the reference gave nothing."""
    is_same: bool
    """True if the reference is the tuned stack itself."""
    infeasible: Infeasible | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A setting whose tuned value is the last one tried, though the server accepts others."""

    server: str
    name: str
    value: str
    is_largest: bool
    """True for the largest value, False for the smallest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Responded:
    """One configuration with its measurements."""

    stack: str
    values: Values
    """Values by knob."""
    value: float
    """In the goal's own unit: requests per second, seconds or bytes."""
    relative: float
    """Ratio to the tuned stack, above 1 is better."""
    launches: int
    needs: Needs | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scattering:
    """A finalist with a better mean that lost because its launches scatter."""

    stack: str
    mean: float
    """Ratio of its mean to the tuned stack's."""
    sd: float
    """SD of its launches, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """The answer."""

    stack: str = ""
    """Path of the tuned stack; empty if there is none."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Tuned settings by ``server.name``."""
    value: Interval | None = None
    """Mean, in the goal's own unit."""
    poor: float | None = None
    """The least that nine launches of ten deliver, in the same unit."""
    launches: int = 0
    final_launches: int = 0
    """Launches in the finals, which ``value`` and ``poor`` come from: they did not select the stack."""
    against: tuple[Against, ...] = ()
    needs: Needs | None = None
    effects: tuple[Effect, ...] = ()
    edges: tuple[Edge, ...] = ()
    responses: tuple[Responded, ...] = ()
    """Configurations with their measurements, the best first."""
    infeasible: tuple[Infeasible, ...] = ()
    scattering: tuple[Scattering, ...] = ()
    rivals: tuple[str, ...] = ()
    """Others that may be better by more than the difference that matters."""
    equals: tuple[str, ...] = ()
    """Others proved to be within the difference that does not matter."""
    tried: int = 0
    """Number of launched configurations."""
    of: int
    """Number of configurations within the limits."""


def tuned(race: Race) -> Tuned:
    """Return the result so far of ``race``, which has a ``tuning``."""
    tuning, race = tuning_of(race), counted(race)
    grid, raced = grid_of(race), by_stack(race)
    found = verdict(grid)
    infeasible = (*tuning.infeasible, *unfit(race))
    relative = () if found is None else tuple(map(found.relative, range(len(race.stacks))))
    unanswered = Tuned(
        against=tuple(_against(race, tuning, found, {one.stack: one for one in infeasible})),
        effects=main_effects(grid, tuning.knobs, np.log(relative) if relative else None),
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
            value=goal.in_unit(found.value.value * relative[i]),
            relative=relative[i],
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
            # the ratio has no limits if the two share only one block
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
    """Return the state of a search after the blocks of ``race``, in a line; empty if nothing is known yet.

    For example: ``gunicorn:workers=3 leads, 5 of 36 configurations left``: 5 may still be the best, including those
    not launched yet.
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
