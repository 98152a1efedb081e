"""Selection of the best stack, or of one that is good enough: looks at a running race, and the stacks still in.

The rule guarantees a good selection: with a probability of 95 % the winner is the best stack, or less than δ
from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .contrasts import with_variances
from .limits import against_best, critical
from .pairs import ROBUST_FROM, Array, Counts, Family, Flags, pairs
from .variances import Variances, measured, unknown

LOOKS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 28, 34, 40)
"""Numbers of blocks after which a race may decide something."""

ALPHA = 0.005
"""Chance at each look that the limits of the best stack against the others miss anywhere.

All looks together name a winner that is more than δ off the best in at most 5 % of races: docs/measurements.md
has the figures, benchmarks/method/simulations.py prints the table.
"""

LIMITS_ALPHA = 0.005
"""Chance that the limits of all pairs together miss; a report prints these limits and makes tiers of them.

Reports show these limits at the end of a race. But the data choose the end, and the stacks that leave before it; a
ranking even ends when these limits settle all pairs. This is the largest level, in steps of 0.001, at which a
false order shows in at most 5 % of simulated races. Races with one very noisy stack, among five or of two that
are to be ranked, come near 5 %.
"""

FEW, FEW_ALPHA = 3, 0.01
"""Most stacks in a race for a winner whose limits may miss more often, and the chance that they miss."""

NARROWEST, NARROWEST_OF_FEW = math.log(1.35), math.log(1.5)
"""Least half-widths of limits from two blocks; the second for at most ``FEW`` stacks.

A stack that leaves after two blocks often leaves because these happened to be alike, and the same chance makes its
limits narrow. With these half-widths, the limits of at least 95 % of such stacks hold the true value in each model
of noise; with two stacks alone 90 %, if one is very noisy. docs/measurements.md has the figures,
`benchmarks.method.simulations --only early` the table.
"""

_WIDEST = math.log(10)
"""Widest limits in ln units that contain 0; wider limits tell nothing and become infinite."""

WINNER_FROM = 3
"""Fewest blocks after which a stack wins while others are still in."""

_CLEAR = 2.0
"""Number of δ that a stack must surely be behind another to be dropped after two blocks."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """State of K stacks after all looks up to ``blocks`` blocks, by index.

    For many races at once, arrays have shape (…, K) and (…, K, K).
    """

    blocks: int
    delta: float
    """Difference that does not matter, in ln units."""
    measured: Flags
    """Stacks with a value so far."""
    out: Flags
    """Stacks that were dropped from the race."""
    leader: Counts
    """Stack with the largest mean among those still in."""
    winner: Counts
    """Stack that a planned look has named as the winner; −1 if none has."""
    variances: Variances
    pairs: Family
    """d_ij with the half-widths H_ij of ``ALPHA``: one-sided, against the best. Pairs of a stack that left stay as
    they were at its last look."""

    @property
    def left(self) -> Flags:
        """Stacks still in."""
        return self.measured & ~self.out

    def limits(self, *, ranking: bool = False, alpha: float | None = None) -> Family:
        """Return all pairs with limits that hold at once, H = c·√(S²/n).

        A stack that left keeps its blocks and its variance; the variance of a stack still in is known better now.
        Before ``WINNER_FROM`` blocks pairs of stacks still in have no limits, since too little is known of each
        stack's noise. For the same reason limits from two blocks are at least ``NARROWEST`` wide to either side.
        Limits that contain 0 and are wider than ``_WIDEST`` become infinite. The chance that limits miss is
        ``FEW_ALPHA`` or ``LIMITS_ALPHA``, or ``alpha`` if given.

        Source: `limits.critical`, `variances`.
        """
        known = self.pairs.blocks > 1
        if self.blocks < WINNER_FROM:
            known &= ~(self.left[..., :, None] & self.left[..., None, :])

        stacks = self.measured.sum(axis=-1)[..., None, None]
        few = stacks <= FEW
        usual = LIMITS_ALPHA if ranking else np.where(few, FEW_ALPHA, LIMITS_ALPHA)
        known_better = with_variances(self.pairs, self.variances, known)
        family = known_better.family(critical, stacks, usual if alpha is None else alpha)
        least = np.where(few, NARROWEST_OF_FEW, NARROWEST)
        half = np.maximum(family.half_width, np.where(family.blocks == 2, least, 0.0))
        tells = (2 * half <= _WIDEST) | (np.abs(np.nan_to_num(family.estimate)) > half)
        return replace(family, half_width=np.where(tells, half, np.inf))

    def ahead(self, leader: Counts | int | None = None) -> Array:
        """Return the upper limit of each stack's lead over ``leader``, in ln units, (…, K); 0 for itself.

        The limit is (H_lj − d_lj)₊; infinite without limits. For a stack that left, it is at most δ: the stack that
        made it leave is better, or worse by less than δ.

        Source: Hsu 1984, Constrained simultaneous confidence intervals for multiple comparisons with the best,
        Annals of Statistics 12; Eckman & Henderson 2018, Guarantees on the probability of good selection.
        """
        head = np.asarray(self.leader if leader is None else leader)
        half, estimate = (
            np.take_along_axis(matrix, head[..., None, None], axis=-2)[..., 0, :]
            for matrix in (self.pairs.half_width, self.pairs.estimate)
        )
        ahead = np.where(np.isnan(estimate), np.inf, np.maximum(half - np.nan_to_num(estimate), 0.0))
        is_head = np.arange(self.left.shape[-1]) == head[..., None]
        ahead = np.where(self.out, np.minimum(ahead, self.delta), ahead)
        return np.where(is_head | ~self.measured, 0.0, ahead)


def last_look(blocks: int) -> int:
    """Return the last planned look within ``blocks`` blocks, 0 before the first."""
    return max((n for n in LOOKS if n <= blocks), default=0)


def selected(values: Sequence[Sequence[float]] | Array, delta: float, *, drops: bool = True) -> Selection:
    """Return the state after all looks up to now; see `looks`."""
    *_, last = looks(values, delta, drops=drops)
    return last


def looks(values: Sequence[Sequence[float]] | Array, delta: float, *, drops: bool = True) -> Iterator[Selection]:
    """Yield the state after every planned look, and after the last block, where a budget may have ended the race.

    ``values`` has shape (K, B), K ≥ 1, or (…, K, B) for many races at once: ln of the response by stack and block
    in order of time, NaN if there is none. ``delta`` ≥ 0 is the difference that does not matter, ln(1.05) for 5 %.
    Without ``drops``, as in a ranking or a race that measures everything, all stacks stay in.

    d_ij is the mean of the block differences, with ``ROBUST_FROM`` blocks or more the trimmed one; H_ij =
    D·√(S²/n), D as in `limits.against_best` for the K stacks that began, S² and ν from the `variances`. A stack
    that leaves keeps its variance. At a planned look, drops come first:

    - after two blocks j leaves if some d_ij − H_ij > 2δ; a stack wins only if no other is left;
    - later j leaves if some i that was in at the look's start has d_ij > 0 and d_ij − H_ij > −δ, but the stack with
      the largest mean never leaves; then l wins if d_lj − H_lj > −δ for all j still in, and of several such stacks
      the one with the largest mean wins.

    Source: Kim & Nelson 2001, A fully sequential procedure for indifference-zone selection in simulation, ACM
    TOMACS 11, and 2006, Selecting the best system, Handbooks in Operations Research 13 (elimination within the
    zone); Hsu 1981, Annals of Statistics 9 (multiple comparisons with the best).
    """
    array = np.asarray(values, dtype=float)
    last = array.shape[-1]
    now = _nothing(array, delta)
    for n in (*(n for n in LOOKS if n <= last), *(() if last in LOOKS else (last,))):
        now = _with_blocks(now, array, n)
        # without drops only the last look counts
        if n in LOOKS or not drops:
            now = _decided(now, drops)
        yield now


def _nothing(array: Array, delta: float) -> Selection:
    shape, k = array.shape[:-1], array.shape[-2]
    square = (*shape, k)
    blank = Family(estimate=np.full(square, np.nan), half_width=np.full(square, np.inf),
                   blocks=np.zeros(square, dtype=np.int64))  # fmt: skip
    for matrix in (blank.estimate, blank.half_width):
        matrix[..., np.arange(k), np.arange(k)] = 0.0
    return Selection(
        blocks=0, delta=delta, measured=np.zeros(shape, dtype=bool), out=np.zeros(shape, dtype=bool),
        leader=np.zeros(shape[:-1], dtype=np.int64),
        winner=np.full(shape[:-1], -1), variances=unknown(shape), pairs=blank,
    )  # fmt: skip


def _with_blocks(now: Selection, array: Array, n: int) -> Selection:
    """Return ``now`` after the first ``n`` blocks of the stacks still in."""
    # a stack without a value so far does not count yet: this look cannot see later values
    now = replace(now, measured=np.asarray(np.isfinite(array[..., :n]).any(axis=-1)))
    k, left = now.measured.sum(axis=-1)[..., None, None], now.left
    held = np.where(left[..., None], array[..., :n], np.nan)
    all_pairs = pairs(held, ROBUST_FROM)
    variances = now.variances.replaced(measured(all_pairs), left & (left.sum(axis=-1, keepdims=True) > 1))
    both = left[..., :, None] & left[..., None, :]
    newer = with_variances(all_pairs, variances, all_pairs.df > 0).family(against_best, k, ALPHA)
    best = Family(
        estimate=np.where(both, newer.estimate, now.pairs.estimate),
        half_width=np.where(both, newer.half_width, now.pairs.half_width),
        blocks=np.where(both, newer.blocks, now.pairs.blocks),
    )
    return replace(
        now, blocks=n, leader=_largest(_means(held), left), winner=np.full_like(now.winner, -1),
        variances=variances, pairs=best,
    )  # fmt: skip


def _decided(now: Selection, drops: bool) -> Selection:
    d, half, delta = now.pairs.estimate, now.pairs.half_width, now.delta
    k = d.shape[-1]
    away = ~np.eye(k, dtype=bool)
    before = now.left
    both = before[..., :, None] & before[..., None, :] & away
    leads = np.arange(k) == now.leader[..., None]
    with np.errstate(invalid="ignore"):
        lower = d - half
        clear, behind = lower > _CLEAR * delta, (d > 0) & (lower > -delta)
        over = both & (clear if now.blocks == LOOKS[0] else behind)
        near = (lower > -delta) | ~away
    over &= ~leads[..., None, :] & drops
    left = before & ~over.any(axis=-2)
    good = left & (near | ~left[..., None, :]).all(axis=-1)
    if now.blocks == LOOKS[0]:
        good &= left.sum(axis=-1, keepdims=True) == 1
    # the leader wins if it is good; else the good stack with the best worst estimate
    worst = np.where(both & left[..., None, :], np.nan_to_num(d, nan=-np.inf), np.inf).min(axis=-1)
    foremost = np.where(good, np.where(leads, np.inf, worst), -np.inf).argmax(axis=-1)
    winner = np.where(good.any(axis=-1), foremost, -1)
    leader = np.where(winner >= 0, winner, now.leader)
    return replace(now, out=now.out | (before & ~left), winner=winner, leader=leader)


def _means(values: Array) -> Array:
    """Return the mean difference of each stack to all others over the blocks they share, (…, K); NaN for none.

    Without gaps, this orders stacks by their plain means.
    """
    there = np.isfinite(values)
    filled, ones = np.where(there, values, 0.0), there.astype(float)
    common = ones @ np.swapaxes(ones, -1, -2)
    sums = filled @ np.swapaxes(ones, -1, -2)
    met = common > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        differences = np.where(met, (sums - np.swapaxes(sums, -1, -2)) / common, 0.0)
        return np.asarray(differences.sum(axis=-1) / met.sum(axis=-1))


def _largest(means: Array, among: Flags) -> Counts:
    return np.asarray(np.where(among & np.isfinite(means), means, -np.inf).argmax(axis=-1))
