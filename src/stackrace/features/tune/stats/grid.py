"""Configurations and their measurements, as arrays, without what the machine's own speed did to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ....stats.pairs import Array

Flags = npt.NDArray[np.bool_]
_Numbers = npt.NDArray[np.intp]

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


def weather(measured: Slices, places: Array) -> tuple[Array, Mapping[str, float]]:
    """Return what the machine's speed did to each launch, as all other launches tell, and the likeliest parameters.

    What it did has shape (K, B), in ln units beside the speed's mean over all slices, 0 where nothing was measured;
    the parameters are one of each of ``_CHOICES``.

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
        return felt, {**best, "swing": 0.0}
    process = _process(measured, there, places)
    best = _likeliest(process.first(_FITTED))
    if (strange := process.strange(best)).any():
        there[there] = ~strange
        process = _process(measured, there, places)
        best = _likeliest(process.first(_FITTED))
    told = process.told_by_others(best)
    np.add.at(felt, (process.rows, process.blocks), process.busy * (told - told.mean()))
    return felt / np.maximum(there.sum(axis=2), 1), best


def _process(measured: Slices, there: Flags, places: Array) -> _Process:
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

    def strange(self, given: Mapping[str, float]) -> Flags:
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


def _same(labels: _Numbers) -> Flags:
    return np.asarray(labels[:, None] == labels[None, :])


def distance(places: Array) -> Array:
    """Return the squared distances in steps, infinite where one of the two is off the grid."""
    apart = ((places[:, None, :] - places[None, :, :]) ** 2).sum(axis=-1)
    apart = np.where(np.isfinite(apart), apart, np.inf)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """K configurations in B blocks, on a grid of D settings."""

    values: Array
    """(K, B): the response in ln units by block, without the machine's weather; NaN where a configuration was not
    launched, or gave nothing."""
    entered: Flags
    """(K, B): whether it was launched."""
    places: Array
    """(K, D): steps on the grid, NaN off it."""
    delta: float
    """The difference that does not matter, in ln units."""
    references: tuple[int, ...] = ()
    """Those that the best one is compared with: they race again beside the finalists."""
    out: tuple[int, ...] = ()
    """Those that are not possible, or failed."""
    strangers: tuple[int, ...] = ()
    """References that are none of the configurations: they are compared with, and never chosen."""
    reserve: tuple[int, ...] = ()
    """Configurations beyond the usual values: they race only where the best lies at that end."""

    @property
    def waiting(self) -> tuple[int, ...]:
        """Those of the reserve that were never launched."""
        return tuple(i for i in self.reserve if not self.entered[i].any())

    @property
    def field(self) -> int:
        """How many configurations there are to choose from."""
        return len(self.values) - len(self.strangers) - len(self.waiting)


def grid_of(
    *,
    values: Sequence[Sequence[float]],
    entered: Sequence[Sequence[bool]],
    places: Sequence[Sequence[float]],
    delta: float,
    slices: Slices | None = None,
    references: tuple[int, ...] = (),
    out: tuple[int, ...] = (),
    strangers: tuple[int, ...] = (),
    reserve: tuple[int, ...] = (),
) -> Grid:
    """Return the arrays of what lists hold, a row for each configuration.

    Given the ``slices`` that the values are means of, the machine's own changes of speed are taken off (`weather`).
    """
    k = len(places)
    measured = np.asarray(values, dtype=float).reshape(k, -1)
    where = np.asarray(places, dtype=float).reshape(k, -1)
    if slices is not None:
        measured = measured - weather(slices, where)[0]
    return Grid(
        values=measured,
        entered=np.asarray(entered, dtype=bool).reshape(k, -1),
        places=where,
        delta=delta,
        references=references,
        out=out,
        strangers=strangers,
        reserve=reserve,
    )
