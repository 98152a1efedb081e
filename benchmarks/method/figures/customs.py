"""What sequential runs would have said, by model of noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from ..noise import MODELS
from ..trials.answers import Answers, answers
from ..trials.customs import Custom, customs
from ..trials.drawn import Cell
from ..trials.schedule import RULE
from ..trials.truths import REALISTIC, WITHIN
from .figure import Figure, Row, percent

TO_THE_END_S = 1e6
"""All races go on until their answer, or 40 blocks."""


def _rows(races: int) -> Iterator[Row]:
    for model in MODELS:
        cells, data = [model.name], {"noise": model.name, "races": races}
        for truth in (REALISTIC, WITHIN):
            cell = Cell(model=model, stacks=10, races=races, truth=truth)
            now = answers(cell, RULE, budget_s=TO_THE_END_S)
            found = {"races": now, **customs(cell)}
            cells += [_told(one) for one in found.values()]
            data[truth.name] = {name: asdict(one) for name, one in found.items()}
        yield Row(cells=tuple(cells), data=data)


def _told(one: Answers | Custom) -> str:
    return f"{percent(one.wrong, 1)} · {percent(one.reversed, 1)}"


NAMES = ("races", "means of three", "best of three")

CUSTOMS = Figure(
    title="What sequential runs say",
    measured="""\
Ten stacks: races and experiments that name a stack over 5 % behind the best · show some pair that is over 3 %
apart the wrong way round, in per cent. Races go on until they have their answer, for 40 blocks at most. Three
launches of each stack in sequence, by their means or their best, always name somebody and always show an
order.""",
    columns=("noise", *(f"{truth.name}: {name}" for truth in (REALISTIC, WITHIN) for name in NAMES)),
    rows=_rows,
    fewer=8,
)
