"""What the machine's own speed did to launches that were not loaded at the same moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ....stats.pairs import Array
from .launched import distance

__all__ = ["OneLaunch", "Slices", "Weather", "weather"]

_Numbers = npt.NDArray[np.intp]
_Flags = npt.NDArray[np.bool_]

_FEWEST = 8
"""Fewer slices tell nothing of the weather."""
_FITTED = 200
"""The parameters are those of the first so many: they hardly change with more, and time grows with the cube."""

_STRANGE = 10.0
"""Slices so many median deviations from what is expected of them tell nothing of the weather."""

_CHOICES: Mapping[str, tuple[float, ...]] = {
    # the sd of the speed within a block
    "swing": (0.06, 0.0, 0.03, 0.12, 0.24),
    # after so many seconds the speed remembers a third of what it was
    "span_s": (6.0, 2.0, 20.0, 60.0),
    # the sd of a slice, and of a launch, beside all else
    "slice": (0.03, 0.015, 0.06, 0.12, 0.24),
    "launch": (0.03, 0.01, 0.1),
    # the sd of what a configuration has for itself
    "rough": (0.1, 0.03, 0.3, 1.0),
}
"""The parameters' values, those first that a search begins with; standard deviations in ln units."""

_BLOCKS = 0.3
"""The sd of the speed from block to block."""
_LENGTH = 1.5
"""So many steps of a setting apart two configurations are still alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLaunch:
    """What one launch gave, each slice's response in ln units and the middle of it by any clock."""

    values: Sequence[float]
    moments_s: Sequence[float]
    busy: float
    """The share of the cores that it kept busy: who mostly waits feels little of how fast they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slices:
    """What K configurations gave in B blocks, in at most S slices a launch; NaN where there is none."""

    values: Array
    """(K, B, S): the response in ln units."""
    moments_s: Array
    """(K, B, S): the middles of the slices, by any clock."""
    busy: Array
    """(K, B): the share of the cores that each launch kept busy."""

    @staticmethod
    def of(launches: Sequence[Sequence[OneLaunch | None]]) -> Slices:
        """Return the arrays of what lists hold: a row for each configuration, a launch for each block."""
        most = max((len(one.values) for row in launches for one in row if one), default=1)
        shape = len(launches), max(map(len, launches), default=0)
        values, moments_s = np.full((2, *shape, most), np.nan)
        busy = np.full(shape, np.nan)
        for i, row in enumerate(launches):
            for j, one in enumerate(row):
                if one is not None:
                    values[i, j, : len(one.values)] = one.values
                    moments_s[i, j, : len(one.values)] = one.moments_s
                    busy[i, j] = one.busy
        return Slices(values=values, moments_s=moments_s, busy=busy)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weather:
    """The speed of the machine, beside its mean over all slices, and the likeliest parameters, in ln units."""

    felt: Array
    """(K, B): what it did to each launch; 0 where nothing was measured."""
    swing: float
    """The sd of the speed within a block."""
    span_s: float
    """After so many seconds it remembers a third of what it was."""
    slice: float
    """The sd of a slice beside that."""
    launch: float
    """The same of a launch."""


def weather(measured: Slices, places: Array) -> Weather:
    """Return what the machine's speed did to each launch, as all other launches tell.

    The configurations of a block are loaded one after another, over a minute and more where there are many, and a
    machine that others share changes its speed by a tenth and more meanwhile. A slice's value is taken for the sum
    of its configuration, a Gaussian process over ``places``, (K, D) in steps; of the speed, one value for the block
    and an Ornstein-Uhlenbeck process within, times ``busy``; of its launch; and of chance. The parameters are the
    likeliest. What a launch itself gave is left out of what is told of its weather: so launches scatter afterwards
    by as much as they are wrong, and limits from their scatter hold.

    Source: Gilmour, Cullis & Verbyla 1997, Accounting for natural and extraneous variation in the analysis of field
    experiments, Journal of Agricultural, Biological and Environmental Statistics 2; Rasmussen & Williams 2006,
    Gaussian Processes for Machine Learning, sections 2.2 and 5.4.2.
    """
    there = np.isfinite(measured.values) & np.isfinite(measured.moments_s) & np.isfinite(measured.busy)[:, :, None]
    best = {name: values[0] for name, values in _CHOICES.items()}
    felt = np.zeros(there.shape[:2])
    if there.sum() < _FEWEST:
        return Weather(felt=felt, swing=0.0, span_s=best["span_s"], slice=best["slice"], launch=best["launch"])
    process = _process(measured, there, places)
    best = _likeliest(process.first(_FITTED))
    if (strange := process.strange(best)).any():
        there[there] = ~strange
        process = _process(measured, there, places)
        best = _likeliest(process.first(_FITTED))
    told = process.told_by_others(best)
    np.add.at(felt, (process.rows, process.blocks), process.busy * (told - told.mean()))
    return Weather(
        felt=felt / np.maximum(there.sum(axis=2), 1),
        swing=best["swing"],
        span_s=best["span_s"],
        slice=best["slice"],
        launch=best["launch"],
    )


def _process(measured: Slices, there: _Flags, places: Array) -> _Process:
    rows, columns, _ = np.nonzero(there)
    values = measured.values[there]
    return _Process(
        values=values - np.median(values),
        at_s=measured.moments_s[there],
        busy=measured.busy[rows, columns],
        rows=rows,
        blocks=columns,
        apart=distance(places),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Process:
    """N slices and the Gaussian process that they are taken for."""

    values: Array
    """(N,), in ln units, beside their median."""
    at_s: Array
    busy: Array
    rows: _Numbers
    """(N,): of which configuration."""
    blocks: _Numbers
    apart: Array
    """(K, K): squared distances of the configurations, in steps."""

    def first(self, many: int) -> _Process:
        """Return the slices of the first blocks, so many that there are ``many``, or all."""
        last = np.sort(self.blocks)[min(many, len(self.blocks)) - 1]
        own = self.blocks <= last
        return replace(
            self, values=self.values[own], at_s=self.at_s[own], busy=self.busy[own], rows=self.rows[own],
            blocks=self.blocks[own],
        )  # fmt: skip

    def speed(self, given: Mapping[str, float]) -> Array:
        """Return the covariance of the speed at a slice with what each slice felt of it."""
        within = given["swing"] ** 2 * np.exp(-np.abs(self.at_s[:, None] - self.at_s[None, :]) / given["span_s"])
        return np.where(_same(self.blocks), _BLOCKS**2 + within, 0.0) * self.busy[None, :]

    def covariance(self, given: Mapping[str, float]) -> Array:
        """Return the covariance of the values."""
        spread = max(float(np.var(self.values)), 1e-6)
        alike = spread * np.exp(-self.apart[np.ix_(self.rows, self.rows)] / (2 * _LENGTH**2))
        own = _same(self.rows)
        beside = given["rough"] ** 2 * own + given["launch"] ** 2 * (own & _same(self.blocks))
        chance = given["slice"] ** 2 * np.eye(len(self.values))
        return np.asarray(alike + self.busy[:, None] * self.speed(given) + beside + chance)

    def likelihood(self, given: Mapping[str, float]) -> float:
        """Return ln of how likely the values are, but for a constant."""
        lower = np.linalg.cholesky(self.covariance(given))
        whitened = np.linalg.solve(lower, self.values)
        return -0.5 * float(whitened @ whitened) - float(np.log(np.diag(lower)).sum())

    def strange(self, given: Mapping[str, float]) -> _Flags:
        """Tell which slices are ``_STRANGE`` median deviations from what all others say, a tenth at most.

        One slice of nearly nothing would else make all launches seem to scatter.
        """
        inverse = np.linalg.inv(self.covariance(given))
        beside = np.abs((inverse @ self.values) / np.diag(inverse))
        limit = max(_STRANGE * float(np.median(beside)), float(np.quantile(beside, 0.9)))
        return np.asarray(beside > limit)

    def told_by_others(self, given: Mapping[str, float]) -> Array:
        """Return the speed expected at each slice, (N,), from the values of all other launches.

        With the weights α = K⁻¹y of all, those without the slices g are α − K⁻¹_{·g}(K⁻¹_{gg})⁻¹α_g.
        """
        inverse, speed = np.linalg.inv(self.covariance(given)), self.speed(given)
        weights = inverse @ self.values
        told = np.empty(len(self.values))
        for row, block in set(zip(self.rows.tolist(), self.blocks.tolist(), strict=True)):
            own = np.flatnonzero((self.rows == row) & (self.blocks == block))
            without = weights - inverse[:, own] @ np.linalg.solve(inverse[np.ix_(own, own)], weights[own])
            without[own] = 0.0
            told[own] = speed[own] @ without
        return told


def _likeliest(process: _Process) -> dict[str, float]:
    """Return the choices of which no change of a single one is likelier."""
    best = {name: values[0] for name, values in _CHOICES.items()}
    highest, before = process.likelihood(best), None
    while before != best:
        before = dict(best)
        for name, values in _CHOICES.items():
            for value in values:
                changed = {**best, name: value}
                if value != best[name] and (reached := process.likelihood(changed)) > highest:
                    best, highest = changed, reached
    return best


def _same(labels: _Numbers) -> _Flags:
    return np.asarray(labels[:, None] == labels[None, :])
