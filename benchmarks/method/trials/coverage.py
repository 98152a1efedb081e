"""Do the limits that a report prints beside a ratio hold the truth?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stackrace.stats.selection import last_look, looks

from ..noise import Array
from .answers import BUDGET_S, RULE, ending
from .drawn import DELTA, Cell, Chunk, chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Rows, every stack against the leader at the end of its race: the share ``held`` whose limits hold the truth.

    ``two`` and ``three`` are those of rows that rest on so few blocks, NaN for none; ``whole`` is the share of
    races in which the limits of all rows hold. ``printed`` is the share of rows with limits.
    """

    held: float
    two: float
    three: float
    whole: float
    printed: float


def coverage(cell: Cell) -> Coverage:
    """Race until there is a winner, or for 180 s of the default schedule."""
    held, blocks, whole = (np.concatenate(each) for each in zip(*map(_rows, chunks(cell)), strict=True))
    known = np.isfinite(held)

    def share(rows: Array) -> float:
        return float(held[rows].mean()) if rows.any() else math.nan

    return Coverage(
        held=share(known),
        two=share(known & (blocks == 2)),
        three=share(known & (blocks == 3)),
        whole=float(whole.mean()),
        printed=float(known.mean()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """``rows`` with limits of two blocks, and the share ``held`` of them that hold the truth, NaN for none."""

    held: float
    rows: int


def early(cells: Sequence[Cell]) -> Early:
    """Return the rows of all ``cells`` that rest on two blocks when their race ends: those of stacks that left."""
    found = (rows for cell in cells for chunk in chunks(cell) for rows in _of_leavers(chunk))
    known = [held[np.isfinite(held) & (blocks == 2)] for held, blocks, _ in found]
    rows = np.concatenate(known) if known else np.zeros(0)
    return Early(held=float(rows.mean()) if len(rows) else math.nan, rows=len(rows))


def _of_leavers(chunk: Chunk) -> Iterator[tuple[Array, Array, Array]]:
    """Give `_rows` of the races that a stack leaves after two blocks; the others have no such rows."""
    seen = next(looks(chunk.values[..., :2], DELTA))
    left = seen.out.any(axis=-1)
    if left.any():
        yield _rows(replace(chunk, speeds=chunk.speeds[left], values=chunk.values[left]))


def _rows(chunk: Chunk) -> tuple[Array, Array, Array]:
    """Tell of every row but the leader's whether its limits hold the truth, NaN without any, and its blocks.

    Last of each race whether all its rows do. A race that its budget ends is judged by its last look.
    """
    ends = np.array([last_look(int(blocks)) for blocks in ending(chunk.values, RULE, BUDGET_S).blocks])
    held: list[Array] = []
    blocks: list[Array] = []
    whole: list[Array] = []
    for seen in looks(chunk.values, DELTA):
        here = np.flatnonzero(ends == seen.blocks)
        if not len(here):
            continue
        family, leader = seen.limits(), seen.leader[here]
        true = chunk.speeds[here] - chunk.speeds[here, leader][:, None]
        estimate, half = family.estimate[here, :, leader], family.half_width[here, :, leader]
        upper = estimate + half
        upper = np.where(upper < 0, upper, np.minimum(upper, seen.ahead()[here]))
        holds = np.where(np.isfinite(half), (estimate - half <= true) & (true <= upper + 1e-12), np.nan)
        others = np.arange(holds.shape[-1]) != leader[:, None]
        held.append(holds[others])
        blocks.append(family.blocks[here, :, leader][others])
        whole.append(((holds != 0) | ~others).all(axis=-1))
    return np.concatenate(held), np.concatenate(blocks), np.concatenate(whole)
