"""Estimate of the rate at which a share of the requests is slow, from trials at several rates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...base.numbers import Interval
from ...stats.limits import critical

_CONFIDENCE = 0.95
_SLOPE = 10.0
"""Slope of the curve that is assumed before any trial."""
_BELIEF = 1e-4
_FLATTEST, _STEEPEST = 2.0, 200.0
_LEAST_LEFT = 0.1
_WIDEST = math.log(2)
"""Largest half-width of limits, in ln units; wider limits are left out."""
_ROUNDS = 60
_FAR = 12.0
"""Logit beyond which the logistic curve is cut off."""


def crossing(rates: Sequence[float], shares: Sequence[float], allowed: float) -> Interval:
    """Return the rate at which the share of slow requests is ``allowed``, with its limits.

    ``rates`` are those of the trials, above 0; ``shares``, in [0, 1], are the shares of each trial's requests that
    were slow; ``allowed`` lies in (0, 1). A logistic curve of ln(rate) is fitted to the shares: slow requests come
    in bursts, so the mean of single trials' quantiles is biased. The limits treat each trial as one observation,
    since its requests depend on each other. There are no limits without a third trial, or if they would be wide.

    Source: McCullagh & Nelder, Generalized Linear Models, 2nd edition, 4.4 and 9.2; White, Econometrica 50 (1982);
    MacKinnon & White, Journal of Econometrics 29 (1985), HC3.
    """
    logs, share = np.log(rates), np.asarray(shares, dtype=float)
    centre = float(logs.mean())
    design = np.stack([np.ones(len(logs)), logs - centre])
    wanted = math.log(allowed / (1 - allowed))
    curve = np.array([wanted, _SLOPE])
    for _ in range(_ROUNDS):
        expected = 1 / (1 + np.exp(-np.clip(curve @ design, -_FAR, _FAR)))
        slopes = design @ (share - expected) + np.array([0.0, _BELIEF * len(logs) * (_SLOPE - curve[1])])
        step = np.clip(np.linalg.solve(_curvature(design, expected), slopes), -3, 3)
        curve = curve + step
        if np.abs(step).max() < 1e-9:
            break
    slope = min(max(float(curve[1]), _FLATTEST), _STEEPEST)
    root = (wanted - float(curve[0])) / slope
    half = math.inf
    if len(logs) > 2:
        expected = 1 / (1 + np.exp(-np.clip(curve @ design, -_FAR, _FAR)))
        inverse = np.linalg.inv(_curvature(design, expected))
        # a trial with a large leverage draws the curve towards itself
        leverage = np.einsum("in,ij,jn->n", design, inverse, design) * expected * (1 - expected)
        each = design * (share - expected) / np.maximum(1 - leverage, _LEAST_LEFT)
        spread = inverse @ (each @ each.T) @ inverse
        towards = np.array([-1 / slope, -root / slope])
        half = critical(2, len(logs) - 2, 1 - _CONFIDENCE) * math.sqrt(max(float(towards @ spread @ towards), 0.0))
    rate = math.exp(centre + root)
    if half > _WIDEST:
        return Interval(value=rate)
    return Interval(value=rate, low=rate * math.exp(-half), high=rate * math.exp(half))


def _curvature(design: np.ndarray, expected: np.ndarray) -> np.ndarray:
    weight = expected * (1 - expected)
    curvature: np.ndarray = (design * weight) @ design.T
    return curvature + np.diag([1e-9, _BELIEF * design.shape[1]])
