"""What a race says of chosen pairs of its cells, in plain numbers: the ratios, their limits, how long more would
take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.numbers import Interval
from .claims import CONFIDENCE, LAST_SHARE, Answer, Settled, blocks_needed, settled
from .evidence import LEAST_BLOCKS, Panel
from .logs import ratio_of
from .pairs import Array

__all__ = ["Finding", "Sample", "findings"]


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

    They are one family with the confidence `claims.CONFIDENCE`, of whose error rate they may spend ``share``;
    ``difference`` is what does not matter, 0.05 for 5 %. For ``ended`` see `claims.settled`.
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
