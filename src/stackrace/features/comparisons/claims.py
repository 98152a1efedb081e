"""Claims about chosen pairs of cells, judged as one family and again after every few blocks.

The tiers of a race compare every stack with every other. A published comparison makes some dozen claims instead,
each about two cells of its own choosing. Each claim is one contrast θ, the ln ratio of the two, and three things
may be said of it: θ > 0, θ < 0, or |θ| < δ, no difference that matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from ...base.numbers import Interval
from ...stats.limits import critical, ratio_of
from ...stats.pairs import Array, Counts
from .evidence import LEAST_BLOCKS, Evidence, Panel, evidence

CONFIDENCE = 0.95
"""With this probability nothing wrong is said about any claim of the family, over all looks."""

LOOKS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 28, 34, 40)
"""The numbers of blocks after which the claims are looked at; and once more when a race ends."""

_LOOK_SHARE = 0.05
"""Every look on the way may spend this part of the family's error rate. Sixteen of them see mostly the same data,
and spend less than half of it together: benchmarks/method/claims.py counts."""

LAST_SHARE = 0.35
"""The look at the end, whenever that is, may spend this part: what is clear shows early whatever a look may
spend, and what is close needs all there is."""

MOST_BLOCKS = 100_000
"""Nobody races so many."""

_STEP = 0.02
"""ν is rounded down by so much at most: fewer quantiles to find."""

_Indices = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]


class Answer(IntEnum):
    """What the data say of a contrast."""

    OPEN = 0
    MORE = 1
    LESS = 2
    SAME = 3
    """No difference that matters."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settled:
    """What was said of each contrast, (…, contrasts), in the order of the panels.

    Figures are those of the last look; but an answer keeps those of the last look that gave it.
    """

    answer: npt.NDArray[np.int64]
    """Members of ``Answer``."""
    below: npt.NDArray[np.bool_]
    """Of an open contrast, whether some look showed θ < δ."""
    above: npt.NDArray[np.bool_]
    """Of an open contrast, whether some look showed θ > −δ."""
    mean: Array
    """θ's estimate, in ln units."""
    both: Array
    """Half the width of the limits that a direction rests on; infinite without any."""
    single: Array
    """The same for SAME, ``below`` and ``above``."""
    variance: Array
    """That of one block's difference."""
    nu: Array
    """Degrees of freedom of the variance."""
    blocks: Counts
    """How many blocks the contrast rests on."""


def settled(
    panels: Sequence[Panel],
    *,
    delta: float,
    alpha: float = 1 - CONFIDENCE,
    ended: bool = True,
    looks: Sequence[int] = LOOKS,
) -> Settled:
    """Return what is said of all contrasts of ``panels``, which are one family, after the blocks they hold.

    The data are looked at after ``looks`` blocks and, where the race has ``ended``, after the last. A look tests
    every contrast that is still open at two levels, a = w·``alpha``/(m − directions known), b = w·``alpha``/(m −
    known to be the same), for m contrasts; w is ``_LOOK_SHARE``, at the end ``LAST_SHARE``. As soon as one is
    answered the others are tested anew with one fewer: Holm's step-down, for the hypotheses θ = 0 and for |θ| ≥
    δ. With c_p the upper quantile p of Student's t with ν degrees of freedom, and e the standard error, the
    answer is

        SAME   if |m| + c_b·e < δ   (two one-sided tests, each at b),
        MORE   if m − c_(a/2)·e > 0,
        LESS   if m + c_(a/2)·e < 0,

    the first that applies; it stays, whatever later looks say. Of what is open the tests of SAME may show one
    half: θ < δ, or θ > −δ.

    Whatever θ is, one kind of words is wrong: where θ = 0 both directions, so each is tested one-sided at a half
    of a; where 0 < θ < δ LESS alone; where θ ≥ δ SAME and θ < δ, which are one test, and LESS, which mostly
    implies them. So a contrast may use both levels in full. Holm's proof holds for either list by itself. For the
    two together, and for all looks, the error rate is counted in simulations (benchmarks/method/claims.py).

    A pair that stands in ``panels`` twice, or the other way round, counts once: both stand or fall together.

    ``delta`` > 0 in ln units, ln 1.05 for 5 %; ``alpha`` in (0, 1).

    Source: Holm 1979, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics
    6; Shaffer 1986, Modified sequentially rejective multiple test procedures, JASA 81, for hypotheses that imply
    each other; Schuirmann 1987, A comparison of the two one-sided tests procedure and the power approach, Journal
    of Pharmacokinetics and Biopharmaceutics 15; Goeman, Solari & Stijnen 2010, Three-sided hypothesis testing,
    Statistics in Medicine 29; Pocock 1977, Group sequential methods, Biometrika 64, for a constant level a look.
    """
    if not delta > 0 or not 0 < alpha < 1:
        raise ValueError(f"no claims are settled by a difference of {delta} and an error rate of {alpha}")
    distinct = _distinct(panels)
    lead = panels[0].values.shape[:-2] if panels else ()
    first = distinct == np.arange(len(distinct))
    result = _unsaid((*lead, len(distinct)))
    least = np.concatenate([np.full(len(panel.contrasts), panel.least) for panel in panels] or [np.zeros(0)])
    last = max((panel.values.shape[-1] for panel in panels), default=0)
    planned = [(n, _LOOK_SHARE) for n in looks if n <= last - ended]
    for n, share in [*planned, *([(last, LAST_SHARE)] if ended else [])]:
        current = _joined([evidence(panel, n) for panel in panels])
        _look(result, current, current.blocks >= least, first, delta=delta, level=share * alpha)
    return result


def blocks_needed(
    mean: float, variance: float, nu: float, *, delta: float, level: float, same_level: float, blocks: int
) -> int:
    """Return after how many blocks, at most ``MOST_BLOCKS``, an open contrast would be answered if it stays as it
    is.

    That is the first n with c·√(variance/n) within |m|, at ``level``, or within δ − |m|, at ``same_level`` (see
    `settled`). ν grows with n.
    """

    def answered(n: int) -> bool:
        grown = _rounded(nu * max((n - 1) / max(blocks - 1, 1), 1.0))
        error = math.sqrt(variance / n)
        same = delta - abs(mean) - critical(2, grown, 2 * same_level) * error > 0
        return same or abs(mean) - critical(2, grown, level) * error > 0

    low, high = blocks, blocks + 1
    while not answered(high) and high < MOST_BLOCKS:
        low, high = high, min(2 * high, MOST_BLOCKS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if answered(middle) else (middle, high)
    return high


def _distinct(panels: Sequence[Panel]) -> _Indices:
    """Return for each contrast the place of the first about the same two cells, itself mostly."""
    places: dict[tuple[int, frozenset[int]], int] = {}
    pairs = [(number, frozenset(pair)) for number, panel in enumerate(panels) for pair in panel.contrasts]
    return np.array([places.setdefault(pair, at) for at, pair in enumerate(pairs)], dtype=np.int64)


def _joined(parts: Sequence[Evidence]) -> Evidence:
    return Evidence(
        mean=np.concatenate([part.mean for part in parts], axis=-1),
        variance=np.concatenate([part.variance for part in parts], axis=-1),
        nu=np.concatenate([part.nu for part in parts], axis=-1),
        blocks=np.concatenate([part.blocks for part in parts], axis=-1),
    )


def _unsaid(shape: tuple[int, ...]) -> Settled:
    return Settled(
        answer=np.full(shape, int(Answer.OPEN), dtype=np.int64),
        below=np.zeros(shape, dtype=bool), above=np.zeros(shape, dtype=bool), mean=np.full(shape, np.nan),
        both=np.full(shape, np.inf), single=np.full(shape, np.inf), variance=np.full(shape, np.nan),
        nu=np.zeros(shape), blocks=np.zeros(shape, dtype=np.int64),
    )  # fmt: skip


def _look(result: Settled, current: Evidence, usable: _Flags, first: _Flags, *, delta: float, level: float) -> None:
    """Test what is open, with fewer and fewer beside it, until nothing more is answered; enter it in ``result``."""
    error = np.where(usable, current.error, np.inf)

    def test(contrasts: _Flags, directions: _Flags) -> _Tested:
        counts = ((open_ & first).sum(axis=-1, keepdims=True) for open_ in (directions, contrasts))
        a, b = (np.broadcast_to(level / np.maximum(count, 1), error.shape) for count in counts)
        return _Tested.of(
            current.mean, _quantile(current.nu, a) * error, _quantile(current.nu, 2 * b) * error, delta
        )

    every = np.ones(error.shape, dtype=bool)
    whole = test(every, every)
    # what was shown keeps the figures that showed it, until later ones do against all others
    _enter(result, (result.answer != Answer.OPEN) & (whole.answer == result.answer), current, whole)
    while True:
        left, alike = result.answer == Answer.OPEN, result.answer == Answer.SAME
        now = test(~alike, left | alike)
        answered = left & (now.answer != Answer.OPEN)
        if not answered.any():
            break
        result.answer[answered] = now.answer[answered]
        _enter(result, answered, current, now)
    _enter(result, left & (now.below | now.above | ~(result.below | result.above)), current, now)
    result.below[left] |= now.below[left]
    result.above[left] |= now.above[left]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tested:
    """One test of every contrast."""

    both: Array
    """Half-widths of the limits that a direction rests on."""
    single: Array
    """Half-widths of the limits that the others rest on."""
    below: _Flags
    above: _Flags
    answer: _Indices

    @classmethod
    def of(cls, mean: Array, both: Array, single: Array, delta: float) -> _Tested:
        with np.errstate(invalid="ignore"):
            below, above = mean + single < delta, mean - single > -delta
            shown = [below & above, mean - both > 0, mean + both < 0]
        answer = np.select(shown, [Answer.SAME, Answer.MORE, Answer.LESS], Answer.OPEN)
        return cls(both=both, single=single, below=below, above=above, answer=answer)


def _enter(result: Settled, where: _Flags, current: Evidence, tested: _Tested) -> None:
    """Keep what this look saw of the contrasts ``where``."""
    for kept, new in ((result.mean, current.mean), (result.both, tested.both), (result.single, tested.single),
                      (result.variance, current.variance), (result.nu, current.nu)):  # fmt: skip
        kept[where] = new[where]
    result.blocks[where] = current.blocks[where]


def _rounded(nu: float) -> float:
    return math.exp(math.floor(math.log(nu) / _STEP) * _STEP)


def _quantile(nu: Array, a: Array) -> Array:
    """Return the two-sided t quantiles of ``a``, ν rounded down; infinite without degrees of freedom."""
    with np.errstate(divide="ignore"):
        steps = np.where(nu > 0, np.floor(np.log(nu) / _STEP), -np.inf)
    keys, where = np.unique(np.stack([steps, np.broadcast_to(a, nu.shape)], axis=-1).reshape(-1, 2), axis=0,
                            return_inverse=True)  # fmt: skip
    quantiles = [critical(2, math.exp(step * _STEP), alpha) if step > -np.inf else math.inf for step, alpha in keys]
    return np.asarray(np.array(quantiles)[where.reshape(-1)].reshape(nu.shape))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The cells of one race in one metric, and which of them are compared; see `evidence.Panel`."""

    cells: Sequence[Mapping[int, float]]
    """For each cell, ln of the metric by block."""
    group: Sequence[int]
    """The number of each cell's group."""
    pairs: Sequence[tuple[int, int]]
    """Indices of two cells each."""
    least: int = LEAST_BLOCKS
    """With fewer blocks nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is said of one pair."""

    answer: Answer
    ratio: Interval
    """With the limits that the answer rests on; without any where there is a single block."""
    blocks: int
    """How many common blocks it rests on."""
    at_most: bool = False
    """Of an open pair: the ratio was shown to be below 1 + the difference that matters."""
    at_least: bool = False
    """Of an open pair: the ratio was shown to be above 1/(1 + that difference)."""
    more_blocks: int | None = None
    """How many other blocks an open pair would need if it stayed as it is; None where that is not known."""


def findings(
    samples: Sequence[Sample], *, blocks: int, difference: float, share: float = 1.0, ended: bool = True
) -> tuple[Finding | None, ...]:
    """Return what ``blocks`` blocks say of all pairs of ``samples``, None of a pair without a common block.

    They are one family with the confidence ``CONFIDENCE``, of whose error rate they may spend ``share``;
    ``difference`` is what does not matter, 0.05 for 5 %. For ``ended`` see `settled`.
    """
    panels = [_panel(sample, blocks) for sample in samples if sample.pairs]
    if not panels:
        return ()
    delta, alpha = math.log1p(difference), (1 - CONFIDENCE) * share
    said = settled(panels, delta=delta, alpha=alpha, ended=ended)
    return tuple(_finding(said, at, delta, alpha) for at in range(len(said.answer)))


def _panel(sample: Sample, blocks: int) -> Panel:
    values: Array = np.full((len(sample.cells), blocks), np.nan)
    for row, cell in enumerate(sample.cells):
        for block, value in cell.items():
            values[row, block] = value
    return Panel(values=values, group=sample.group, contrasts=sample.pairs, least=sample.least)


def _finding(said: Settled, at: int, delta: float, alpha: float) -> Finding | None:
    if not said.blocks[at]:
        return None
    answer = Answer(int(said.answer[at]))
    half_said = bool(said.below[at] != said.above[at])
    half = said.single[at] if answer is Answer.SAME or half_said else said.both[at]
    return Finding(
        answer=answer,
        ratio=ratio_of(float(said.mean[at]), float(half)),
        blocks=int(said.blocks[at]),
        at_most=bool(said.below[at]),
        at_least=bool(said.above[at]),
        more_blocks=_more(said, at, delta, alpha) if answer is Answer.OPEN else None,
    )


def _more(said: Settled, at: int, delta: float, alpha: float) -> int | None:
    """Count the blocks to an answer at the end of a longer race, with as many claims answered as now."""
    if not math.isfinite(said.both[at]):
        return None
    alike, left = int((said.answer == Answer.SAME).sum()), int((said.answer == Answer.OPEN).sum())
    level, blocks = LAST_SHARE * alpha, int(said.blocks[at])
    needed = blocks_needed(
        float(said.mean[at]), float(said.variance[at]), float(said.nu[at]),
        delta=delta, level=level / (left + alike), same_level=level / (len(said.answer) - alike), blocks=blocks,
    )  # fmt: skip
    return needed - blocks
