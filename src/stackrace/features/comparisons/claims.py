"""Claims about chosen pairs of cells, judged as one family after every few blocks.

The tiers of a race compare every stack with every other. A published comparison makes about a dozen claims instead,
each about two cells. Each claim is one contrast θ, the ln ratio of the two, with three possible statements: θ > 0,
θ < 0, or |θ| < δ, no difference that matters. The variance of a contrast's differences is shared among all cells of
a race.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from ...base.numbers import Interval
from ...stats.contrasts import Contrasts
from ...stats.limits import critical, each, ratio_of
from ...stats.pairs import ROBUST_FROM, Array, Flags, pairs
from ...stats.variances import Variances, measured

CONFIDENCE = 0.95
"""Probability that no statement about any claim of the family is wrong, over all looks."""

LOOKS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 28, 34, 40)
"""Numbers of blocks after which the claims are tested; the end of a race adds another look."""

_LOOK_SHARE = 0.05
"""Part of the family's error rate for each look before the end. The sixteen looks see mostly the same data, so
together they spend less than half of the rate, as benchmarks/method/claims.py shows."""

_LAST_SHARE = 0.35
"""Part of the error rate for the look at the end, whenever that is. Clear differences show early with any part;
small ones need the most."""

_MOST_BLOCKS = 100_000

_LEAST_DF = 0.5
"""The fewest degrees of freedom of a cell, those of two cells with two common blocks; races test from three on."""

_Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """Cells that share their variance: one metric of one race."""

    values: Array
    """(…, cells, blocks): ln of the metric, NaN for a block without a value."""
    group: Sequence[int]
    """Number of each cell's group; cells of a group were measured close together, so their differences count."""
    contrasts: Sequence[tuple[int, int]]
    """Pairs of cells, each of one group."""
    least: int = 0
    """The fewest blocks for any statement; a single one has no variance anyway."""


def evidence(panel: Panel, blocks: int | None = None) -> Contrasts:
    """Return the data of the panel's contrasts after the first ``blocks`` blocks (None: all).

    A contrast's differences, block by block, have the plain mean and variance below ten blocks, the 20 % trimmed
    mean and Yuen's variance from ten on (`stats.pairs.trimmed`). The variance then comes from all cells: each
    cell's own share is estimated within its group (`stats.variances.measured`), and shrunk towards that of all
    cells of the panel (`stats.variances.Variances`); a cell far noisier than the others keeps its own. All arrays
    of the result have shape (…, contrasts).

    Source: as the functions named, Smyth 2004 and Phipson et al. 2016 for the shrinking, Yuen 1974, Welch 1938.
    """
    values = np.asarray(panel.values, dtype=float)[..., :blocks]
    cells = values.shape[-2]
    shape = (*values.shape[:-2], cells, cells)
    mean, count, df = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64), np.zeros(shape)
    own, worth = np.zeros(shape[:-1]), np.zeros(shape[:-1])
    for members in _members(panel.group):
        differences = pairs(values[..., members, :], ROBUST_FROM)
        i, j = np.ix_(members, members)
        mean[..., i, j], count[..., i, j], df[..., i, j] = differences.estimate, differences.blocks, differences.df
        found = measured(differences)
        own[..., members], worth[..., members] = found.own, found.df
    variance, nu = Variances(own=own, df=worth, least_df=_LEAST_DF).of_pairs()
    chosen = np.s_[..., *np.transpose(np.reshape(panel.contrasts, (-1, 2)).astype(np.int64))]
    return Contrasts(
        estimate=mean[chosen],
        variance=variance[chosen],
        nu=np.where(df[chosen] > 0, nu[chosen], 0.0),
        blocks=count[chosen],
    )


def _members(group: Sequence[int]) -> list[_Indices]:
    names = np.asarray(group)
    return [np.flatnonzero(names == name) for name in dict.fromkeys(group)]


class Answer(IntEnum):
    """Statement about a contrast."""

    OPEN = 0
    MORE = 1
    LESS = 2
    SAME = 3
    """No difference that matters."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settled(Contrasts):
    """Statement about each contrast, (…, contrasts), in the order of the panels.

    Figures are those of the last look; for an answer, those of the last look that gave it.
    """

    answer: _Indices
    """Members of ``Answer``."""
    below: Flags
    """True if some look showed θ < δ for an open contrast."""
    above: Flags
    """True if some look showed θ > −δ for an open contrast."""
    both: Array
    """Half the width of the limits for a direction; infinite without limits."""
    single: Array
    """Half the width of the limits for SAME, ``below`` and ``above``."""


_FIGURES = ("estimate", "variance", "nu", "blocks", "both", "single")


def settled(panels: Sequence[Panel], *, delta: float, alpha: float = 1 - CONFIDENCE, ended: bool = True) -> Settled:
    """Return the statements about all contrasts of ``panels``, at least one, which are one family.

    The data are tested after ``LOOKS`` blocks and, if the race has ``ended``, after the last. A look tests
    every contrast that is still open at two levels, a = w·``alpha``/(m − directions known), b = w·``alpha``/(m −
    known to be the same), for m contrasts; w is ``_LOOK_SHARE``, at the end ``_LAST_SHARE``. As soon as one is
    answered the others are tested anew with one fewer: Holm's step-down, for the hypotheses θ = 0 and for |θ| ≥
    δ. With c_p the upper quantile p of Student's t with ν degrees of freedom, and e the standard error, the
    answer is

        SAME   if |m| + c_b·e < δ   (two one-sided tests, each at b),
        MORE   if m − c_(a/2)·e > 0,
        LESS   if m + c_(a/2)·e < 0,

    the first that applies; it stays, whatever later looks show. For an open contrast the tests of SAME may show
    one half: θ < δ, or θ > −δ.

    For every θ, only one kind of statement is wrong: for θ = 0 both directions, so each is tested one-sided at a
    half of a; for 0 < θ < δ only LESS; for θ ≥ δ SAME and θ < δ, which are one test, and LESS, which mostly
    implies them. So a contrast may use both levels in full. Holm's proof holds for either list by itself. For the
    two together, and for all looks, the error rate is counted in simulations (benchmarks/method/claims.py).

    A pair that is in ``panels`` twice, or the other way round, counts once: both have the same answer.

    ``delta`` > 0 in ln units, ln 1.05 for 5 %; ``alpha`` in (0, 1).

    Source: Holm 1979, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics
    6; Shaffer 1986, Modified sequentially rejective multiple test procedures, JASA 81, for hypotheses that imply
    each other; Schuirmann 1987, A comparison of the two one-sided tests procedure and the power approach, Journal
    of Pharmacokinetics and Biopharmaceutics 15; Goeman, Solari & Stijnen 2010, Three-sided hypothesis testing,
    Statistics in Medicine 29; Pocock 1977, Group sequential methods, Biometrika 64, for a constant level a look.
    """
    once = _counted_once(panels)
    result = _unsaid((*panels[0].values.shape[:-2], len(once)))
    least = np.concatenate([np.full(len(panel.contrasts), panel.least) for panel in panels])
    last = max(panel.values.shape[-1] for panel in panels)
    planned = [(n, _LOOK_SHARE) for n in LOOKS if n <= last - ended]
    for n, share in [*planned, *([(last, _LAST_SHARE)] if ended else [])]:
        current = _joined([evidence(panel, n) for panel in panels])
        _look(result, current, current.blocks >= least, once, delta=delta, level=share * alpha)
    return result


def _counted_once(panels: Sequence[Panel]) -> Flags:
    """Return a mask: True for each contrast that is the first about its two cells."""
    cells = [(number, frozenset(pair)) for number, panel in enumerate(panels) for pair in panel.contrasts]
    return np.array([cells.index(pair) == at for at, pair in enumerate(cells)])


def _joined(parts: Sequence[Contrasts]) -> Contrasts:
    names = [each.name for each in fields(Contrasts)]
    return Contrasts(**{name: np.concatenate([getattr(one, name) for one in parts], axis=-1) for name in names})


def _unsaid(shape: tuple[int, ...]) -> Settled:
    return Settled(
        answer=np.full(shape, int(Answer.OPEN), dtype=np.int64),
        below=np.zeros(shape, dtype=bool), above=np.zeros(shape, dtype=bool), estimate=np.full(shape, np.nan),
        both=np.full(shape, np.inf), single=np.full(shape, np.inf), variance=np.full(shape, np.nan),
        nu=np.zeros(shape), blocks=np.zeros(shape, dtype=np.int64),
    )  # fmt: skip


def _look(result: Settled, current: Contrasts, usable: Flags, once: Flags, *, delta: float, level: float) -> None:
    """Test the open contrasts again and again, until no further one is answered; update ``result``."""
    current = replace(current, nu=np.where(usable, current.nu, 0.0))

    def test(contrasts: Flags, directions: Flags) -> Settled:
        counts = ((open_ & once).sum(axis=-1, keepdims=True) for open_ in (directions, contrasts))
        a, b = (level / np.maximum(count, 1) for count in counts)
        return _tested(current, current.half_width(critical, 2, a), current.half_width(critical, 2, 2 * b), delta)

    every = np.ones(usable.shape, dtype=bool)
    whole = test(every, every)
    # an answer keeps its figures, until later ones give it against all contrasts
    _enter(result, (result.answer != Answer.OPEN) & (whole.answer == result.answer), whole)
    while True:
        left, alike = result.answer == Answer.OPEN, result.answer == Answer.SAME
        now = test(~alike, left | alike)
        answered = left & (now.answer != Answer.OPEN)
        if not answered.any():
            break
        result.answer[answered] = now.answer[answered]
        _enter(result, answered, now)
    _enter(result, left & (now.below | now.above | ~(result.below | result.above)), now)
    result.below[left] |= now.below[left]
    result.above[left] |= now.above[left]


def _tested(current: Contrasts, both: Array, single: Array, delta: float) -> Settled:
    mean = current.estimate
    with np.errstate(invalid="ignore"):
        below, above = mean + single < delta, mean - single > -delta
        shown = [below & above, mean - both > 0, mean + both < 0]
    return Settled(
        answer=np.select(shown, [Answer.SAME, Answer.MORE, Answer.LESS], Answer.OPEN),
        below=below, above=above, both=both, single=single,
        estimate=mean, variance=current.variance, nu=current.nu, blocks=current.blocks,
    )  # fmt: skip


def _enter(result: Settled, where: Flags, seen: Settled) -> None:
    for name in _FIGURES:
        getattr(result, name)[where] = getattr(seen, name)[where]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Statement about one pair."""

    answer: Answer
    ratio: Interval
    """Ratio with the limits for the answer; without limits if there is a single block."""
    blocks: int
    """Number of common blocks."""
    at_most: bool = False
    """True for an open pair if the ratio was shown to be below 1 + the difference that matters."""
    at_least: bool = False
    """True for an open pair if the ratio was shown to be above 1/(1 + that difference)."""
    more_blocks: int | None = None
    """Number of further blocks an open pair would need if it stayed as it is; None if unknown."""


def findings(
    panels: Sequence[Panel], *, difference: float, share: float = 1.0, ended: bool = True
) -> tuple[Finding | None, ...]:
    """Return the statements about all contrasts of ``panels``, None for one without a common block.

    They are one family with the confidence ``CONFIDENCE``, of whose error rate they may spend ``share``;
    ``difference`` is the one that does not matter, 0.05 for 5 %. For ``ended`` see `settled`.
    """
    if not panels:
        return ()
    delta, alpha = math.log1p(difference), (1 - CONFIDENCE) * share
    said = settled(panels, delta=delta, alpha=alpha, ended=ended)
    return tuple(_finding(said, at, delta, alpha) for at in range(len(said.answer)))


def _finding(said: Settled, at: int, delta: float, alpha: float) -> Finding | None:
    if not said.blocks[at]:
        return None
    answer = Answer(int(said.answer[at]))
    half_said = bool(said.below[at] != said.above[at])
    half = said.single[at] if answer is Answer.SAME or half_said else said.both[at]
    return Finding(
        answer=answer,
        ratio=ratio_of(float(said.estimate[at]), float(half)),
        blocks=int(said.blocks[at]),
        at_most=bool(said.below[at]),
        at_least=bool(said.above[at]),
        more_blocks=_more_blocks(said, at, delta, alpha) if answer is Answer.OPEN else None,
    )


def _more_blocks(said: Settled, at: int, delta: float, alpha: float) -> int | None:
    """Return the number of blocks to an answer at the end of a longer race, with as many claims answered as now.

    If the contrast stays as it is, that is the first n, at most ``_MOST_BLOCKS``, with c·√(variance/n) within |m|,
    or within δ − |m|; see `settled`. ν grows with n.
    """
    if not math.isfinite(said.both[at]):
        return None
    alike, left = int((said.answer == Answer.SAME).sum()), int((said.answer == Answer.OPEN).sum())
    level, mean, blocks = _LAST_SHARE * alpha, abs(float(said.estimate[at])), int(said.blocks[at])

    def answered(n: int) -> bool:
        nu = said.nu[at : at + 1] * max((n - 1) / max(blocks - 1, 1), 1.0)
        error = math.sqrt(said.variance[at] / n)
        same = each(critical, 2, nu, 2 * level / (len(said.answer) - alike)) * error < delta - mean
        return bool(same or each(critical, 2, nu, level / (left + alike)) * error < mean)

    low, high = blocks, blocks + 1
    while not answered(high) and high < _MOST_BLOCKS:
        low, high = high, min(2 * high, _MOST_BLOCKS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if answered(middle) else (middle, high)
    return high - blocks
