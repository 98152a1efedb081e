"""Coverage of the limits that stand beside a ratio."""

from __future__ import annotations

from collections.abc import Iterator

from ..noise import MODELS
from ..trials.coverage import coverage
from ..trials.drawn import Cell
from ..trials.truths import EQUAL, REALISTIC, WITHIN
from .figure import Figure, Row, percent

__all__ = ["COVERAGE"]

CASES = ((3, REALISTIC), (5, REALISTIC), (10, REALISTIC), (10, WITHIN), (10, EQUAL))
LOW, HIGH = 0.93, 0.97


def _rows(races: int) -> Iterator[Row]:
    for model in MODELS:
        held = [coverage(Cell(model=model, stacks=k, races=races, truth=truth)) for k, truth in CASES]
        yield Row(
            cells=(model.name, *(percent(share, 1) for share in held)),
            data={"noise": model.name, "races": races,
                  "held": {f"{k} {truth.name}": share for (k, truth), share in zip(CASES, held, strict=True)}},
            kept=tuple(LOW <= share <= HIGH for (_, truth), share in zip(CASES, held, strict=True)
                       if truth is REALISTIC),
        )  # fmt: skip


COVERAGE = Figure(
    title="Limits beside a ratio",
    measured="""\
Rows of a report whose 95 % limits hold the true ratio to the leader, in per cent, at the end of the race: its
answer, or 180 s. Goal at realistic speeds: 93 to 97. Where stacks are equal, the leader is in the lead by
luck, and its rows hold less often.""",
    columns=("noise", *(f"{k} {truth.name}" for k, truth in CASES)),
    rows=_rows,
    fewer=4,
)
