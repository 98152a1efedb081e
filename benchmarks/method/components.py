"""What varies within a launch and what between launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .noise import Array

__all__ = ["Pilot", "pilot"]

_NOTHING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """Two variances in squared ln units: T1² of one slice ``within`` its launch, T2² ``between`` launches.

    A launch's value, the mean of R slices, has the variance T2² + T1²/R. ``slices`` and ``launches`` are what the
    two estimates rest on: their degrees of freedom, at least 1 each.
    """

    within: float
    between: float
    slices: float
    launches: float

    def variance(self, slices: int) -> float:
        """Return the variance of a launch's value with ``slices`` ≥ 1 slices."""
        return self.between + self.within / slices


def pilot(values: Sequence[Sequence[Sequence[float]]]) -> Pilot | None:
    """Return the variance components of launches × slices of all stacks; None while the values do not allow any.

    ``values`` holds ln of the response by stack, launch (block) and slice (pass) as they were measured, NaN or an
    empty launch where there is none; launch b of every stack is of block b, slice p of pass p. What a block's or a
    pass's moment did to all stacks is removed here, since comparisons within blocks never see it.

    T1² is the residual variance of the slices after each launch's mean and, within each block, each pass's effect
    on all stacks; with one stack the pass's effect cannot be told from noise and stays. For T2² the launches' means
    are freed of each stack's and each block's effect by least squares with residual operator M: E[Σr²] = tr(M)·T2²
    + T1²·ΣM_cc/n_c for launches of n_c slices, which is solved for T2² (the ANOVA estimate with n0 =
    tr(M)/Σ(M_cc/n_c), var(launch means) − T1²/n for equal n) and kept from falling below 0. All stacks are taken to
    have the same two variances.

    None without two slices in some launch, or without two launches of a stack (of two stacks, where they share
    blocks).

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6.1; Searle, Casella &
    McCulloch 1992, Variance Components, chapter 5 (unequal numbers).
    """
    cells = [
        (stack, block, np.asarray(slices, dtype=float))
        for stack, launches in enumerate(values)
        for block, slices in enumerate(launches)
        if np.isfinite(np.asarray(slices, dtype=float)).any()
    ]
    alone = len({stack for stack, _, _ in cells}) < 2
    inner = [_inside([s for _, b, s in cells if b == block], alone) for block in {b for _, b, _ in cells}]
    squares, df = sum(one for one, _ in inner), sum(many for _, many in inner)
    if df < 1:
        return None
    within = squares / df
    operator = _residual([[s for s, _, _ in cells]] + ([] if alone else [[b for _, b, _ in cells]]))
    launches = float(np.trace(operator))
    if launches < 1 - _NOTHING:
        return None
    means = np.array([np.nanmean(slices) for _, _, slices in cells])
    counts = np.array([np.isfinite(slices).sum() for _, _, slices in cells])
    residual = operator @ means
    between = (float(residual @ residual) - within * float((np.diag(operator) / counts).sum())) / launches
    return Pilot(within=within, between=max(between, 0.0), slices=df, launches=launches)


def _inside(block: Sequence[Array], alone: bool) -> tuple[float, float]:
    """Return the sum of squares of one block's slices without launch and pass effects, and its df."""
    rows = [(cell, at, y) for cell, slices in enumerate(block) for at, y in enumerate(slices) if np.isfinite(y)]
    operator = _residual([[cell for cell, _, _ in rows]] + ([] if alone else [[at for _, at, _ in rows]]))
    residual = operator @ np.array([y for _, _, y in rows])
    return float(residual @ residual), round(float(np.trace(operator)))


def _residual(factors: Sequence[Sequence[int]]) -> Array:
    """Return M = 1 − A·A⁺: what additive effects leave of values, given ``factors``, one label per value each."""
    columns = [[label == one for label in factor] for factor in factors for one in dict.fromkeys(factor)]
    design = np.array(columns, dtype=float).T
    left: Array = np.eye(len(design)) - design @ np.linalg.pinv(design)
    return left
