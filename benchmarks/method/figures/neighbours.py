"""Busy neighbours: what comes of races that count slices in which others had the core, and of those that do not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from stackrace.stats.values import Question
from stackrace.validity.cores import MOST_TAKEN

from ..noise import CONTENDED, Contention
from ..trials.coverage import coverage
from ..trials.drawn import Cell
from ..trials.orders import false_orders
from ..trials.truths import EQUAL, NARROW, REALISTIC
from ..trials.winners import winners
from .figure import Figure, Row, bounded, holds, percent

STACKS = 5
COUNTED, SINGLE, WHOLE = "counted", "refused", "refused, whole blocks"
RULES = {COUNTED: (math.inf, False), SINGLE: (MOST_TAKEN, False), WHOLE: (MOST_TAKEN, True)}
"""The limit from which a slice is refused, and whether a block counts only if all stacks have a valid one in it."""


def ruled(contention: Contention, rule: str) -> Contention:
    """Return the same neighbour under one of the ``RULES``."""
    limit, whole = RULES[rule]
    return replace(contention, limit=limit, whole=whole)


def _rows(races: int) -> Iterator[Row]:
    for model in CONTENDED:
        for rule in RULES:
            assert model.contention is not None
            met = replace(model, contention=ruled(model.contention, rule))
            equal, narrow, usual = (
                Cell(model=met, stacks=STACKS, races=races, truth=truth) for truth in (EQUAL, NARROW, REALISTIC)
            )
            false, wrong = false_orders(equal, Question.WINNER), winners(narrow).wrong
            answered, held = winners(usual), coverage(usual).held
            yield Row(
                cells=(model.name, rule, bounded(false, races), bounded(wrong, races),
                       f"{percent(answered.answered)} ({answered.blocks:.0f})",
                       "–" if math.isnan(held) else percent(held, 1)),
                data={"neighbour": model.name, "rule": rule, "races": races, "false": false, "wrong": wrong,
                      "answered": answered.answered, "blocks": answered.blocks,
                      "held": None if math.isnan(held) else held},
                kept=(holds(false, races) and holds(wrong, races),) if rule == WHOLE else (),
            )  # fmt: skip


NEIGHBOURS = Figure(
    title="Busy neighbours",
    measured=f"""\
Races of {STACKS} stacks beside another program on their core. A stack has 1 to 8 processes ready to run, and the
scheduler shares the core out equally among all that are ready, so stacks suffer unequally. Slices in which
the neighbour took more than {percent(MOST_TAKEN)} % are *counted*; or *refused*, and repeated twice at most; or
*refused, whole blocks*: a block counts only if every stack has a valid slice in it. False orders until the winner,
all equal; wrong winners, the best ahead by 5.5 %; answers within 40 blocks at realistic speeds (the median number
of blocks); rows whose limits hold the truth there. All in per cent, errors with the upper bound. Goal of whole
blocks: errors at most 5, bound at most 6.5.""",
    columns=(
        "neighbour",
        "slices above the limit",
        "false orders",
        "wrong winners",
        "answered",
        "limits that hold",
    ),
    rows=_rows,
    fewer=2,
)
