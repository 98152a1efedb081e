"""Coverage of the limits that stand beside a ratio."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict

from ..noise import MODELS
from ..trials.coverage import Coverage, coverage
from ..trials.drawn import Cell
from ..trials.truths import EQUAL, REALISTIC, WITHIN
from .figure import Figure, Row, percent

__all__ = ["COVERAGE"]

CASES = ((3, REALISTIC), (5, REALISTIC), (10, REALISTIC), (10, WITHIN), (10, EQUAL))
LEAST = 0.95


def _rows(races: int) -> Iterator[Row]:
    for model in MODELS:
        held = [coverage(Cell(model=model, stacks=k, races=races, truth=truth)) for k, truth in CASES]
        yield Row(
            cells=(model.name, *map(_told, held)),
            data={"noise": model.name, "races": races,
                  "held": {f"{k} {truth.name}": asdict(one) for (k, truth), one in zip(CASES, held, strict=True)}},
            kept=tuple(one.held >= LEAST for one in held),
        )  # fmt: skip


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
