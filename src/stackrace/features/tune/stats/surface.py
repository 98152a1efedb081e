"""What is likely of each configuration, its neighbours on the grid considered."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ....stats.pairs import Array
from .launched import Launched

__all__ = ["Surface", "distance", "surface"]

LENGTHS = (0.7, 1.5, 3.0)
"""How many steps of a setting apart two configurations are still alike."""
ROUGHNESS = (0.01, 0.03, 0.08, 0.2)
"""The sd of what a configuration has for itself, in ln units."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surface:
    """The response of K configurations, in ln units."""

    mean: Array
    """(K,): what is expected."""
    sd: Array
    """(K,): how far the truth may lie from it, one standard deviation."""
    rough: float = 0.0
    """The sd of what neighbours differ by that no setting explains. One launch cannot tell it from chance."""


def surface(known: Launched, places: Array) -> Surface:
    """Return what the launches say of each configuration, and of those like it.

    ``places``, (K, D), holds steps on the grid; a configuration off the grid has NaN and is like no other. The
    response is a Gaussian process over the steps, a squared exponential with what each configuration has for itself
    beside it; lengths and roughness are those under which the launches are the most likely.

    Source: Rasmussen & Williams 2006, Gaussian Processes for Machine Learning, algorithm 2.1 and section 5.4.
    """
    seen = np.flatnonzero(known.count > 0)
    values = known.mean[seen]
    if len(seen) < 2:
        return Surface(mean=known.mean, sd=np.where(known.count > 0, known.sd, np.inf))
    level = float(np.median(values))
    centred, noise = values - level, known.sd[seen] ** 2 / known.count[seen]
    spread = max(float(np.var(values)), 1e-6)
    apart = distance(places)
    near = apart[np.ix_(seen, seen)]
    best: tuple[float, Array, Array, float] | None = None
    for length, rough in product(LENGTHS, ROUGHNESS):
        kernel = spread * np.exp(-near / (2 * length**2)) + rough**2 * np.eye(len(seen))
        lower = np.linalg.cholesky(kernel + np.diag(noise))
        weights = np.linalg.solve(lower.T, np.linalg.solve(lower, centred))
        likely = -0.5 * centred @ weights - np.log(np.diag(lower)).sum()
        if best is None or likely > best[0]:
            across = spread * np.exp(-apart[:, seen] / (2 * length**2))
            across[seen] += rough**2 * np.eye(len(seen))
            best = float(likely), weights, across, rough
            inverse = lower
    assert best is not None
    _, weights, across, rough = best
    reduced = np.linalg.solve(inverse, across.T)
    variance = spread + rough**2 - (reduced**2).sum(axis=0)
    return Surface(mean=level + across @ weights, sd=np.sqrt(np.maximum(variance, 1e-8)), rough=rough)


def distance(places: Array) -> Array:
    """Return the squared distances in steps, infinite where one of the two is off the grid."""
    apart = ((places[:, None, :] - places[None, :, :]) ** 2).sum(axis=-1)
    apart = np.where(np.isfinite(apart), apart, np.inf)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)
