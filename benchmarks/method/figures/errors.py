"""Errors by model of noise and number of stacks, and beside busy neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from stackrace.stats.values import Question
from stackrace.validity.cores import MOST_TAKEN

from ..noise import CONTENDED, MODELS, Contention
from ..trials.coverage import coverage
from ..trials.drawn import EQUAL, NARROW, REALISTIC, TRUTHS, Cell
from ..trials.errors import cut, false_orders, winners
from .figure import Figure, Row, bounded, holds, percent

FIELDS = (2, 3, 5, 10, 12, 20)
FEW_FIELDS = (2, 5, 10)
EASIER = 4
"""Truths that are easier than the least favourable one get so many times fewer races."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """The ``share`` of ``races`` that went wrong, and ``beyond``, of those still open."""

    races: int
    share: float
    beyond: float | None = None


Counted = Callable[[Cell], Sequence[Error]]


def _rows(counted: Counted, fields: Sequence[int]) -> Callable[[int], Iterator[Row]]:
    """Return what makes a row of each model; ``counted`` gives a cell's errors by truth, the worst is shown."""

    def rows(races: int) -> Iterator[Row]:
        for model in MODELS:
            found = {k: counted(Cell(model=model, stacks=k, races=races)) for k in fields}
            yield Row(
                cells=(model.name, *(_told(errors) for errors in found.values())),
                kept=tuple(all(holds(each.share, each.races) for each in errors) for errors in found.values()),
            )

    return rows


def _told(errors: Sequence[Error]) -> str:
    worst = max(errors, key=lambda error: (error.share, error.races))
    beyond = [error.beyond for error in errors if error.beyond is not None]
    return bounded(worst.share, worst.races) + (f" · {percent(max(beyond), 1)}" if beyond else "")


def _by_truth(cell: Cell) -> Iterator[Cell]:
    for truth in TRUTHS:
        races = cell.races if truth is NARROW else max(cell.races // EASIER, 1)
        yield replace(cell, truth=truth, races=races)


def _wrong(cell: Cell) -> list[Error]:
    return [Error(races=one.races, share=winners(one).wrong) for one in _by_truth(cell)]


def _cut(cell: Cell) -> list[Error]:
    found = [(one.races, cut(one)) for one in _by_truth(cell)]
    return [Error(races=races, share=said.false, beyond=said.beyond) for races, said in found]


def _ordered(question: Question) -> Counted:
    return lambda cell: [Error(races=cell.races, share=false_orders(cell, question))]


def _columns(fields: Sequence[int]) -> tuple[str, ...]:
    return ("noise", *(f"{k} stacks" for k in fields))


WINNERS = Figure(
    title="Wrong winners",
    measured="""\
Races that name a winner which is more than 5 % behind the best, in per cent, with the upper bound. Each cell
is the worst of three truths: the best is ahead of all others by 5.5 %; the speeds of a real race; all within
30 % (a quarter of the races for the last two). Goal: at most 5, bound at most 6.5.""",
    columns=_columns(FIELDS),
    rows=_rows(_wrong, FIELDS),
)

CUT = Figure(
    title="What a race says when its budget ends early",
    measured="""\
Races cut after 2 to 12 blocks that say something false at the worst of these ends, in per cent, with the
upper bound: a winner more than 5 % behind the best, or "at most x % behind" where it is more. Behind the dot:
the same of races that are still open, over all ends. Each is the worst of the three truths. Goal: at most 5,
bound at most 6.5.""",
    columns=_columns(FEW_FIELDS),
    rows=_rows(_cut, FEW_FIELDS),
)

ORDERS = Figure(
    title="False orders in a ranking",
    measured="""\
Races of identical stacks whose table puts one above another when they end, in per cent, with the upper bound:
when each pair has an order or is alike, or before that with a budget of 2, 3 … 40 blocks. The worst of these
budgets is shown. Nobody is dropped. Goal: at most 5, bound at most 6.5.""",
    columns=_columns(FIELDS),
    rows=_rows(_ordered(Question.RANKING), FIELDS),
)

ENDED = Figure(
    title="False orders in a race for a winner",
    measured="""\
The same where stacks are dropped, until the race has its winner. Goal: at most 5, bound at most 6.5.""",
    columns=_columns(FIELDS),
    rows=_rows(_ordered(Question.WINNER), FIELDS),
)


STACKS = 5
COUNTED, SINGLE, WHOLE = "counted", "refused", "refused, whole blocks"
RULES = {COUNTED: (math.inf, False), SINGLE: (MOST_TAKEN, False), WHOLE: (MOST_TAKEN, True)}
"""The limit from which a slice is refused, and whether a block counts only if all stacks have a valid one in it."""


def ruled(contention: Contention, rule: str) -> Contention:
    """Return the same neighbour under one of the ``RULES``."""
    limit, whole = RULES[rule]
    return replace(contention, limit=limit, whole=whole)


def _neighbour_rows(races: int) -> Iterator[Row]:
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
    rows=_neighbour_rows,
    fewer=2,
)
