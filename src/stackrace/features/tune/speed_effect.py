"""Effect of the machine's own changes of speed on the launches of configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from ...stats.pairs import Array, Flags

_Numbers = npt.NDArray[np.intp]

_FEWEST = 8
_FITTED = 200
"""Slices that the parameters are fitted to: more hardly change them, and time grows with the cube."""

_STRANGE = 10.0
"""A slice is ignored if its deviation from the expected value is more than this many median deviations."""

_CHOICES: Mapping[str, tuple[float, ...]] = {
    # SD of the speed within a block
    "swing": (0.06, 0.0, 0.03, 0.12, 0.24),
    # seconds after which the speed's correlation is a third
    "span_s": (6.0, 2.0, 20.0, 60.0),
    # SD of a slice, and of a launch, beside everything else
    "slice": (0.03, 0.015, 0.06, 0.12, 0.24),
    "launch": (0.03, 0.01, 0.1),
    # SD of a configuration's own part
    "rough": (0.1, 0.03, 0.3, 1.0),
}
"""Values to try for each parameter, beginning with the one that the search starts from; SDs are in ln units."""

_BLOCKS = 0.3
"""SD of the speed between blocks."""
_LENGTH = 1.5
"""Correlation length in steps of a setting."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slices:
    """N slices, all of one load, with their configurations and blocks."""

    values: Array
    """(N,): the response in ln units."""
    at_s: Array
    """(N,): the middles of the slices, by any clock."""
    busy: Array
    """(N,): the share of the cores that the launch kept busy, 0 to 1. The cores' speed hardly affects a launch that
    mostly waits."""
    rows: _Numbers
    """(N,): index of the configuration."""
    blocks: _Numbers
    """(N,): index of the block."""

    @staticmethod
    def of(slices: Iterable[tuple[float, float, float, int, int]]) -> Slices:
        """Return arrays from a list of value, middle, busy, row and block of each slice."""
        values, at_s, busy, rows, blocks = np.array([*slices], dtype=float).reshape(-1, 5).T
        return Slices(values=values, at_s=at_s, busy=busy, rows=rows.astype(np.intp), blocks=blocks.astype(np.intp))

    def only(self, chosen: Flags) -> Slices:
        """Return the slices for which the mask ``chosen``, (N,), is True."""
        return Slices(**{each.name: getattr(self, each.name)[chosen] for each in fields(self)})


def speed_effect(slices: Slices, places: Array, blocks: int) -> tuple[Array, Mapping[str, float]]:
    """Return the effect of the machine's speed on each launch, as all others show it, and the likeliest parameters.

    The effect has shape (K, B), in ln units relative to the speed's mean over all slices, 0 where nothing was
    measured; the parameters are one of each of ``_CHOICES``.

    The configurations of a block are loaded one after another, which takes a minute or more for many. Meanwhile a
    shared machine changes its speed by a tenth or more. A slice's value is modelled as a sum: its configuration, a
    Gaussian process over ``places``, (K, D) in steps; the speed, one value for the block and an Ornstein-Uhlenbeck
    process within, times ``busy``; its launch; and chance. The parameters are the likeliest. A launch's own values
    are left out when its speed is estimated: so its errors stay in the deviations, whose limits hold.

    Source: Gilmour, Cullis & Verbyla 1997, Accounting for natural and extraneous variation in the analysis of field
    experiments, Journal of Agricultural, Biological and Environmental Statistics 2; Rasmussen & Williams 2006,
    Gaussian Processes for Machine Learning, sections 2.2 and 5.4.2.
    """
    felt, count = np.zeros((2, len(places), blocks))
    best = {name: values[0] for name, values in _CHOICES.items()}
    if len(slices.values) < _FEWEST:
        return felt, {**best, "swing": 0.0}
    distances = distance(places)
    slices = _centred(slices)
    best = _likeliest(slices, distances)
    if (strange := _strange(slices, _covariance(slices, distances, best))).any():
        slices = _centred(slices.only(~strange))
        best = _likeliest(slices, distances)
    expected = _expected_from_others(slices, _covariance(slices, distances, best), _speed(slices, best))
    np.add.at(felt, (slices.rows, slices.blocks), slices.busy * (expected - expected.mean()))
    np.add.at(count, (slices.rows, slices.blocks), 1.0)
    return felt / np.maximum(count, 1), best


def _centred(slices: Slices) -> Slices:
    return replace(slices, values=slices.values - np.median(slices.values))


def _speed(slices: Slices, given: Mapping[str, float]) -> Array:
    """Return the covariance of the speed at each slice with the effect of the speed on each slice, (N, N)."""
    within = given["swing"] ** 2 * np.exp(-np.abs(slices.at_s[:, None] - slices.at_s) / given["span_s"])
    return np.where(_same(slices.blocks), _BLOCKS**2 + within, 0.0) * slices.busy


def _covariance(slices: Slices, distances: Array, given: Mapping[str, float]) -> Array:
    """Return the covariance of the values, (N, N); ``distances`` are squared, of the configurations."""
    spread = max(float(np.var(slices.values)), 1e-6)
    alike = spread * np.exp(-distances[np.ix_(slices.rows, slices.rows)] / (2 * _LENGTH**2))
    own = _same(slices.rows)
    deviations = given["rough"] ** 2 * own + given["launch"] ** 2 * (own & _same(slices.blocks))
    chance = given["slice"] ** 2 * np.eye(len(own))
    return np.asarray(alike + slices.busy[:, None] * _speed(slices, given) + deviations + chance)


def _strange(slices: Slices, covariance: Array) -> Flags:
    """Return a mask of the slices more than ``_STRANGE`` median deviations from their expectation, a tenth at most.

    Otherwise a single slice with nearly no answers would make all launches seem to vary.
    """
    inverse = np.linalg.inv(covariance)
    deviations = np.abs((inverse @ slices.values) / np.diag(inverse))
    most = max(_STRANGE * float(np.median(deviations)), float(np.quantile(deviations, 0.9)))
    return np.asarray(deviations > most)


def _expected_from_others(slices: Slices, covariance: Array, speed: Array) -> Array:
    """Return the speed expected at each slice, (N,), from the values of all other launches.

    With the weights α = K⁻¹y of all, those without the slices g are α − K⁻¹_{·g}(K⁻¹_{gg})⁻¹α_g.
    """
    inverse = np.linalg.inv(covariance)
    weights = inverse @ slices.values
    expected = np.empty(len(weights))
    for row, block in {*zip(slices.rows.tolist(), slices.blocks.tolist(), strict=True)}:
        own = np.flatnonzero((slices.rows == row) & (slices.blocks == block))
        without = weights - inverse[:, own] @ np.linalg.solve(inverse[np.ix_(own, own)], weights[own])
        without[own] = 0.0
        expected[own] = speed[own] @ without
    return expected


def _likeliest(slices: Slices, distances: Array) -> dict[str, float]:
    """Return the parameters that no change of a single one makes likelier.

    They are fitted to the first ``_FITTED`` slices, with the rest of the last of their blocks.
    """
    last = np.sort(slices.blocks)[min(_FITTED, len(slices.blocks)) - 1]
    fitted = slices.only(slices.blocks <= last)

    def likelihood(given: Mapping[str, float]) -> float:
        return log_likelihood(_covariance(fitted, distances, given), fitted.values)

    best = {name: values[0] for name, values in _CHOICES.items()}
    highest, before = likelihood(best), None
    while before != best:
        before = dict(best)
        for name, values in _CHOICES.items():
            for value in values:
                changed = {**best, name: value}
                if value != best[name] and (reached := likelihood(changed)) > highest:
                    best, highest = changed, reached
    return best


def log_likelihood(covariance: Array, values: Array) -> float:
    """Return the log likelihood of ``values``, (N,) around zero, for a Gaussian process, without a constant.

    Source: Rasmussen & Williams 2006, Gaussian Processes for Machine Learning, algorithm 2.1.
    """
    lower = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(lower, values)
    return -0.5 * float(whitened @ whitened) - float(np.log(np.diag(lower)).sum())


def _same(labels: _Numbers) -> Flags:
    return np.asarray(labels[:, None] == labels[None, :])


def distance(places: Array) -> Array:
    """Return the squared distances between configurations in steps, (K, K); infinite if one is off the grid."""
    distances = ((places[:, None, :] - places[None, :, :]) ** 2).sum(axis=-1)
    distances = np.where(np.isfinite(distances), distances, np.inf)
    np.fill_diagonal(distances, 0.0)
    return np.asarray(distances)
