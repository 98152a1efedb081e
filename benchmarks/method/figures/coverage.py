"""Coverage of the limits that stand beside a ratio."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..noise import MODELS
from ..trials.coverage import Coverage, Early, coverage, early
from ..trials.drawn import APART, EQUAL, NARROW, REALISTIC, WIDE, WITHIN, Cell
from .figure import Figure, Row, percent

CASES = ((3, REALISTIC), (5, REALISTIC), (10, REALISTIC), (10, WITHIN), (10, EQUAL))
LEAST = 0.95

FIELDS = (2, 3, 4, 5, 10)
LIKELY = (EQUAL, NARROW, REALISTIC, WITHIN, WIDE, APART)
"""Each as likely. Of equal stacks hardly one leaves after two blocks, and always by chance."""


def _rows(races: int) -> Iterator[Row]:
    for model in MODELS:
        held = [coverage(Cell(model=model, stacks=k, races=races, truth=truth)) for k, truth in CASES]
        yield Row(cells=(model.name, *map(_told, held)), kept=tuple(one.held >= LEAST for one in held))


def _told(one: Coverage) -> str:
    shares = (one.held, one.two, one.three, one.whole)
    return " · ".join("–" if math.isnan(share) else percent(share, 1) for share in shares)


COVERAGE = Figure(
    title="Limits beside a ratio",
    measured="""\
Rows of a report whose 95 % limits hold the true ratio to the leader, in per cent, at the end of the race: its
answer, or 180 s. Behind the first dot: of those with two blocks and with three. Last: races in which those of all
rows do. Goal: at least 95 of the rows.""",
    columns=("noise", *(f"{k} {truth.name}" for k, truth in CASES)),
    rows=_rows,
    fewer=4,
)


def _early_rows(races: int) -> Iterator[Row]:
    for model in MODELS:
        cells = [[Cell(model=model, stacks=k, races=races, truth=truth) for truth in LIKELY] for k in FIELDS]
        held = [early(each) for each in cells]
        yield Row(
            cells=(model.name, *map(_of_rows, held)),
            kept=tuple(one.held >= LEAST for one in held if one.rows),
        )


def _of_rows(one: Early) -> str:
    return f"{percent(one.held, 1)} of {one.rows:,}" if one.rows else "–"


EARLY = Figure(
    title="Limits from two blocks",
    measured="""\
Rows that rest on two blocks when the race ends, and in per cent how many of them hold the truth. Six truths are
equally likely: all equal, ahead by 5.5 %, realistic, within 30 %, within a factor of 3, and 1, 0.7, 0.6, 0.45 …
Goal: at least 95 of the rows.""",
    columns=("noise", *(f"{k} stacks" for k in FIELDS)),
    rows=_early_rows,
)
