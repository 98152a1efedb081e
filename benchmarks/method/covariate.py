"""Slices adjusted for a covariate of the machine, such as theft: tried for the product, and left out of it.

[Decision 26](../../docs/decisions/0026-theft.md) has the figures, `theft.py` makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

__all__ = ["Adjusted", "Rule", "adjusted"]

Array = npt.NDArray[np.float64]
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How slopes are found, and what must hold before they are used.

    ``between`` takes them from launches, each against the others of its stack and of its block; otherwise they come
    from slices within launches. Slopes must agree: a race is left as it is where the test of that has a p-value
    below ``alike``. The covariate itself must be the same for all stacks, with a p-value of at least ``even``, and
    its standard deviation over the race's slices ``most`` at most.
    """

    between: bool = False
    alike: float = 0.05
    even: float = 0.0
    most: float = np.inf


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Adjusted:
    """Slices after the adjustment: ``values`` in the shape they came in.

    ``slope`` (…) is the pooled one of all blocks, ``alike`` (…) the p-value of "all stacks have the same slope",
    NaN where the data do not tell. ``used`` (…) says in which races the values were changed at all.
    """

    values: Array
    slope: Array
    alike: Array
    used: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Equations:
    """Normal equations A·β = c of the slopes after all other effects; ``squares`` is y'My, ``df`` the rank of M."""

    a: Array
    c: Array
    squares: Array
    df: float


def adjusted(values: Array, covariate: Array, blocks: Sequence[int], rule: Rule | None = None) -> Adjusted:
    """Return ``values`` as they would be had every slice met the race's mean of ``covariate``.

    y' = y − b_i·(x − x̄). ``values`` y has shape (K, P): ln of the response by stack and pass, NaN where there is no
    slice; ``covariate`` x likewise, for theft ln(1 − share of the cores that others had); ``blocks`` (P,) is the
    block of each pass. Of many races at once, (…, K, P), with the same slices missing. ``rule`` None is ``Rule()``.

    The model within launches is y = launch + pass + β_i·x + e. M is the residual operator of launches and passes,
    X_i is x in the slices of stack i and 0 elsewhere. A_ij = X_i'MX_j and c_i = X_i'My hold all that the data say
    of the slopes. The pooled slope is b̄ = 1'c/1'A1. That all stacks feel x alike is tested by
    F = ((S_p − S_f)/(K − 1))/(S_f/(df − K)), with the residual squares S_p of the pooled slope and S_f of slopes of
    their own, and df = rank M. A race is returned as it came where F rejects, and where df ≤ K leaves no test. df
    is 0 with one slice a launch; each block with two adds K − 1. So ten stacks need two such blocks.

    The slopes that adjust block k come from all blocks but k, so that no slice has a part in its own adjustment:
    b = (A/σ² + 1/τ²)⁻¹(c/σ² + b̄/τ²), each stack's own shrunk to b̄, σ² = S_f/(df − K), and τ² = (S_p − S_f −
    (K − 1)σ²)/(tr A − 1'A²1/1'A1), at least 0, the variance of true slopes among stacks; b = b̄ where τ² is 0 or
    nothing tells it, and 0 where the other blocks know of no slope.

    ``rule.between`` takes launch means instead, and M of stacks and blocks. Then one slice a launch is enough, and
    three blocks. But whatever makes a launch slow and at the same time moves x comes in as a slope.

    Where some slice has no x, nothing is adjusted. Raises ValueError for shapes that do not fit, and where races of
    one call miss different slices.

    Source: Cochran 1957, Analysis of covariance: its nature and uses, Biometrics 13; Deng, Xu, Kohavi & Walker
    2013, Improving the sensitivity of online controlled experiments by utilizing pre-experiment data (CUPED), WSDM;
    Searle, Casella & McCulloch 1992, Variance Components, chapters 5 and 7 (τ² by its expected square, and the
    prediction).
    """
    rule = rule or Rule()
    y, x, block = np.asarray(values, dtype=float), np.asarray(covariate, dtype=float), np.asarray(blocks)
    if y.shape != x.shape or y.ndim < 2 or block.shape != y.shape[-1:]:
        raise ValueError("values and covariate have one shape, stacks by passes, and each pass has a block")
    seen = np.isfinite(y)
    present = seen.reshape(-1, *y.shape[-2:])[0]
    if (seen != present).any():
        raise ValueError("races of one call miss the same slices")
    numbers = np.unique(block)
    unchanged = Adjusted(
        values=y, slope=np.full(y.shape[:-2], np.nan), alike=np.full(y.shape[:-2], np.nan),
        used=np.zeros(y.shape[:-2], dtype=bool),
    )  # fmt: skip
    if not np.isfinite(x[..., present]).all() or len(numbers) < 2 or y.shape[-2] < 2:
        return unchanged
    spread = x[..., present].std(axis=-1)
    # in units of its own, so that what is next to nothing is so in any unit
    unit = np.where(spread > _NOTHING, spread, 1.0)
    away = (x - x[..., present].mean(axis=-1)[..., None, None]) / unit[..., None, None]
    whole, others = (_between if rule.between else _within)(y, away, present, block)
    slope, alike = _pooled(whole) / unit, _alike(whole)
    used = (alike >= rule.alike) & (_even(away, present, block) >= rule.even) & (spread <= rule.most)
    found = y.copy()
    for number, rest in zip(numbers, others, strict=True):
        at = block == number
        found[..., at] -= _slopes(rest)[..., None] * away[..., at]
    return Adjusted(values=np.where(used[..., None, None], found, y), slope=slope, alike=alike, used=used)


_Bool = npt.NDArray[np.bool_]
_Whole = npt.NDArray[np.int64]


def _within(y: Array, x: Array, present: _Bool, block: _Whole) -> tuple[_Equations, list[_Equations]]:
    """Return the equations of slices within launches: of all blocks, and of all but each."""
    parts = []
    for number in np.unique(block):
        stack, at = np.nonzero(present & (block == number))
        parts.append(_equations(y[..., stack, at], x[..., stack, at], stack, at, y.shape[-2]))
    return _sum(parts), [_sum([*parts[:each], *parts[each + 1 :]]) for each in range(len(parts))]


def _between(y: Array, x: Array, present: _Bool, block: _Whole) -> tuple[_Equations, list[_Equations]]:
    """Return the equations of launch means: of all blocks, and of all but each."""
    means, own, there = _launches(y, present, block), _launches(x, present, block), _held(present, block)

    def equations(kept: _Bool) -> _Equations:
        stack, at = np.nonzero(there & kept)
        return _equations(means[..., stack, at], own[..., stack, at], stack, at, y.shape[-2])

    count = there.shape[-1]
    return equations(np.ones(count, dtype=bool)), [equations(np.arange(count) != each) for each in range(count)]


def _launches(values: Array, present: _Bool, block: _Whole) -> Array:
    """Return the means of launches, (…, K, B); 0 where there is none."""
    shown = np.where(present, values, 0.0)
    sums = [shown[..., block == number].sum(axis=-1) for number in np.unique(block)]
    counts = [present[:, block == number].sum(axis=-1) for number in np.unique(block)]
    return np.asarray(np.stack(sums, axis=-1) / np.maximum(np.stack(counts, axis=-1), 1))


def _held(present: _Bool, block: _Whole) -> _Bool:
    return np.stack([present[:, block == number].any(axis=-1) for number in np.unique(block)], axis=-1)


def _equations(y: Array, x: Array, stack: _Whole, at: _Whole, k: int) -> _Equations:
    """Return the equations of values (…, N): effects of ``stack`` and ``at``, and a slope for each stack."""
    design = np.concatenate([stack[:, None] == np.unique(stack), at[:, None] == np.unique(at)], axis=1).astype(
        float
    )
    operator = np.eye(len(design)) - design @ np.linalg.pinv(design)
    owner = (stack[:, None] == np.arange(k)).astype(float)
    left = y @ operator
    return _Equations(
        a=owner.T @ (x[..., :, None] * operator * x[..., None, :]) @ owner,
        c=(x * left) @ owner,
        squares=(y * left).sum(axis=-1),
        df=float(round(np.trace(operator))),
    )


def _sum(parts: Sequence[_Equations]) -> _Equations:
    return _Equations(
        a=np.sum([one.a for one in parts], axis=0),
        c=np.sum([one.c for one in parts], axis=0),
        squares=np.sum([one.squares for one in parts], axis=0),
        df=sum(one.df for one in parts),
    )


def _pooled(found: _Equations) -> Array:
    """Return b̄, 0 where nothing tells it."""
    total = found.a.sum(axis=(-2, -1))
    known = total > _NOTHING
    return np.where(known, found.c.sum(axis=-1) / np.where(known, total, 1.0), 0.0)


def _left(found: _Equations) -> tuple[Array, Array]:
    """Return S_p and S_f."""
    own = (np.linalg.pinv(found.a, hermitian=True) @ found.c[..., None])[..., 0]
    pooled = found.squares - _pooled(found) * found.c.sum(axis=-1)
    return pooled, np.clip(found.squares - (own * found.c).sum(axis=-1), 0.0, pooled)


def _alike(found: _Equations) -> Array:
    """Return the p-value of F, NaN without the degrees of freedom for it."""
    k, spare = found.c.shape[-1], found.df - found.c.shape[-1]
    pooled, own = _left(found)
    if spare < 1:
        return np.full(pooled.shape, np.nan)
    ratio = (pooled - own) / (k - 1) / np.maximum(own / spare, _NOTHING)
    return np.asarray(scipy.stats.f.sf(ratio, k - 1, spare))


def _slopes(found: _Equations) -> Array:
    """Return each stack's slope, shrunk to the pooled one, (…, K)."""
    k, spare = found.c.shape[-1], found.df - found.c.shape[-1]
    shared = np.repeat(_pooled(found)[..., None], k, axis=-1)
    if spare < 1:
        return shared
    pooled, own = _left(found)
    noise = np.maximum(own / spare, _NOTHING)
    total = np.maximum(found.a.sum(axis=(-2, -1)), _NOTHING)
    weight = np.trace(found.a, axis1=-2, axis2=-1) - (found.a @ found.a).sum(axis=(-2, -1)) / total
    varies = np.maximum(pooled - own - (k - 1) * noise, 0.0) / np.maximum(weight, _NOTHING)
    apart = varies > _NOTHING
    hold = (noise / np.where(apart, varies, 1.0))[..., None]
    leaning = np.linalg.solve(found.a + hold[..., None] * np.eye(k), (found.c + hold * shared)[..., None])[..., 0]
    return np.where(apart[..., None], leaning, shared)


def _even(x: Array, present: _Bool, block: _Whole) -> Array:
    """Return the p-value of "the covariate is the same for all stacks", from launch means."""
    means, there = _launches(x, present, block), _held(present, block)
    stack, at = np.nonzero(there)
    some = means[..., stack, at]
    squares, ranks = [], []
    for factors in ([at], [at, stack]):
        design = np.concatenate([one[:, None] == np.unique(one) for one in factors], axis=1).astype(float)
        operator = np.eye(len(design)) - design @ np.linalg.pinv(design)
        squares.append((some * (some @ operator)).sum(axis=-1))
        ranks.append(round(np.trace(operator)))
    between, spare = ranks[0] - ranks[1], ranks[1]
    if between < 1 or spare < 1:
        return np.ones(x.shape[:-2])
    ratio = (squares[0] - squares[1]) / between / np.maximum(squares[1] / spare, _NOTHING)
    return np.asarray(scipy.stats.f.sf(ratio, between, spare))
