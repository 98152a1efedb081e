"""The choice of the default race: stacks, levels, slices, passes, twin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from ..noise import MODELS
from ..trials.answers import Answers, answers
from ..trials.drawn import Cell
from ..trials.schedule import RULE, Schedule
from ..trials.truths import REALISTIC, WITHIN
from .figure import Figure, Row, bounded, holds, percent, seconds

FIELDS = (6, 8, 10)
CHOICES = {
    "default": RULE,
    "1 level": replace(RULE, levels=1),
    "2 levels": replace(RULE, levels=2),
    "slices of 0.3 s": replace(RULE, slice_s=0.3),
    "slices of 0.5 s": replace(RULE, slice_s=0.5),
    "1 pass": replace(RULE, passes=(1,)),
    "3 passes": replace(RULE, passes=(3,)),
    "6 passes": replace(RULE, passes=(6,)),
    "1.25 s a launch": replace(RULE, launch_s=1.25),
    "no twin": replace(RULE, twin_blocks=0),
    "twin to the end": replace(RULE, twin_blocks=40),
    "side levels in every block": replace(RULE, side_blocks=40),
}
"""One thing at a time is different from the default."""


def _rows(races: int) -> Iterator[Row]:
    for k in FIELDS:
        for name, schedule in CHOICES.items():
            yield _row(k, name, schedule, races)


def _row(stacks: int, name: str, schedule: Schedule, races: int) -> Row:
    def raced(truth: object, white: float) -> Answers:
        cell = Cell(model=MODELS[0], stacks=stacks, races=races, truth=truth)  # type: ignore[arg-type]
        return answers(cell, replace(schedule, white=white))

    found = [raced(truth, white) for truth in (REALISTIC, WITHIN) for white in (1.0, 0.0)]
    worst = max(one.wrong for one in found)
    return Row(
        cells=(str(stacks), name, *(f"{percent(one.answered)} ({seconds(one.seconds)})" for one in found),
               bounded(worst, races)),
        data={"stacks": stacks, "choice": name, "races": races, "schedule": asdict(schedule),
              "found": [asdict(one) for one in found]},
        kept=(holds(worst, races),),
    )  # fmt: skip


DEFAULTS = Figure(
    title="The default race",
    measured="""\
Races answered in 180 s, in per cent, with the median time, where one thing at a time is different from the
default race: three levels, two slices of 0.2 s a launch, the twin in blocks 1 to 3, side levels in block 1.
*White*: a slice of twice the length is worth two. *Slow*: it is worth no more than one, as on a machine
that changes its speed over seconds. Last the worst share of winners over 5 % behind the best. The sd is 5 %
with a slice of 0.5 s.""",
    columns=("stacks", "race", "realistic, white", "realistic, slow", "within 30 %, white", "within 30 %, slow",
             "wrong winner"),
    rows=_rows,
    fewer=4,
)  # fmt: skip
