"""How many races have an answer in 180 s, and what sequential runs say instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from ..noise import MODELS
from ..trials.answers import Answers, answers
from ..trials.customs import Custom, customs
from ..trials.drawn import Cell
from ..trials.schedule import LANDED, RULE
from ..trials.truths import EQUAL, REALISTIC, WITHIN, Truth
from .figure import Figure, Row, bounded, holds, percent, seconds

SD = 0.05
QUIET_SD = 0.04
CASES = (
    (3, REALISTIC, SD),
    (5, REALISTIC, SD),
    (10, REALISTIC, SD),
    (10, WITHIN, SD),
    (10, EQUAL, SD),
    (10, REALISTIC, 2 * SD),
    (10, WITHIN, QUIET_SD),
    (10, EQUAL, QUIET_SD),
)


def _rows(races: int) -> Iterator[Row]:
    for k, truth, sd in CASES:
        cell = Cell(model=MODELS[0], stacks=k, races=races, truth=truth, sd=sd)
        alone, now, told = answers(cell, LANDED), answers(cell, RULE), customs(cell)
        yield Row(
            cells=(_name(k, truth, sd), *map(_in_time, (alone, now)), bounded(now.wrong, races),
                   *map(_errors, (now, *told.values()))),
            data={"stacks": k, "truth": truth.name, "sd": sd, "races": races,
                  "rule alone": asdict(alone), "rule and schedule": asdict(now),
                  **{name: asdict(one) for name, one in told.items()}},
            kept=(holds(now.wrong, races),),
        )  # fmt: skip


def _name(stacks: int, truth: Truth, sd: float) -> str:
    return f"{stacks} stacks, {truth.name}, sd {percent(sd)} %"


def _in_time(one: Answers) -> str:
    return f"{percent(one.answered)} ({seconds(one.seconds)})"


def _errors(one: Answers | Custom) -> str:
    return f"{percent(one.wrong, 1)} · {percent(one.reversed, 1)}"


ANSWERS = Figure(
    title="Answers in 180 s",
    measured="""\
Races that have their answer in 180 s, in per cent, with the median time. *Old schedule*: 1.36 s a
launch, gaps of 0.29 s, three levels and the twin in every block. *Default*: 0.9 s a launch, gaps of 0.2 s, side
levels in block 1, the twin in blocks 1 to 3, two slices of 0.2 s, each worth as much as one of half a second, as
where a machine's speed flickers. *Wrong winner*: names a stack over 5 % behind the best; goal at most 5, bound at
most 6.5. The last three columns: names a stack over 5 % behind the best · shows some pair that is over 3 % apart
the wrong way round in its table. The sd
is that of a launch with one slice of half a second, four fifths of its variance within launches; noise is
independent.""",
    columns=("race", "old schedule", "default", "wrong winner", "errors", "means of three in sequence",
             "best of three"),
    rows=_rows,
)  # fmt: skip
