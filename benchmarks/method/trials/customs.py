"""What is usually done instead: a few runs of one stack after the other, compared by their means, or their best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..noise import Array, sequence
from . import DELTA
from .answers import reversed_
from .drawn import Cell, chunks

RUNS = 3

CUSTOMS = {"means of three": np.mean, "best of three": np.max}


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    """Shares of experiments that name a stack over δ behind the best, ``wrong``, and that show some pair over 3 %
    apart the wrong way round, ``reversed``.
    """

    wrong: float
    reversed: float


def customs(cell: Cell) -> dict[str, Custom]:
    """Measure each stack three times in a row, and believe the figures, as most published comparisons do."""
    told: dict[str, list[tuple[Array, Array]]] = {name: [] for name in CUSTOMS}
    for chunk in chunks(cell, RUNS):
        noise = sequence(cell.model, chunk.dice, len(chunk.speeds), cell.stacks, RUNS, cell.sd)
        runs = chunk.speeds[..., None] + noise
        for name, figure in CUSTOMS.items():
            told[name].append(_believed(figure(runs, axis=-1), chunk.speeds))
    return {name: _shares(rows) for name, rows in told.items()}


def _believed(figures: Array, speeds: Array) -> tuple[Array, Array]:
    named = figures.argmax(axis=-1)
    behind = speeds.max(axis=-1) - np.take_along_axis(speeds, named[:, None], axis=-1)[:, 0]
    return behind > DELTA, reversed_(figures[:, :, None] > figures[:, None, :], speeds)


def _shares(rows: list[tuple[Array, Array]]) -> Custom:
    wrong, turned = (np.concatenate(each) for each in zip(*rows, strict=True))
    return Custom(wrong=float(wrong.mean()), reversed=float(turned.mean()))
