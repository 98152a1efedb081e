"""Errors by model of noise and number of stacks: wrong winners, limits that a budget cuts, false orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from stackrace.stats.values import Question

from ..noise import MODELS
from ..shares import upper_bound
from ..trials.cut import cut
from ..trials.drawn import Cell
from ..trials.orders import false_orders
from ..trials.truths import EQUAL, NARROW, TRUTHS
from ..trials.winners import winners
from .figure import Figure, Row, bounded, holds, percent

FIELDS = (2, 3, 5, 10, 12, 20)
FEW_FIELDS = (2, 5, 10)
EASIER = 4
"""Truths that are easier than the least favourable one get so many times fewer races."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """The ``share`` of ``races`` under a ``truth`` that went wrong, and ``beyond``, of those still open."""

    truth: str
    races: int
    share: float
    beyond: float | None = None

    @property
    def bound(self) -> float:
        return upper_bound(self.share, self.races)


Counted = Callable[[Cell], Sequence[Error]]


def _rows(counted: Counted, fields: Sequence[int]) -> Callable[[int], Iterator[Row]]:
    """Return what makes a row of each model; ``counted`` gives a cell's errors by truth, the worst is shown."""

    def rows(races: int) -> Iterator[Row]:
        for model in MODELS:
            found = {k: counted(Cell(model=model, stacks=k, races=races)) for k in fields}
            yield Row(
                cells=(model.name, *(_told(errors) for errors in found.values())),
                data={
                    "noise": model.name,
                    "stacks": {k: [asdict(e) for e in errors] for k, errors in found.items()},
                },
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
    return [Error(truth=one.truth.name, races=one.races, share=winners(one).wrong) for one in _by_truth(cell)]


def _cut(cell: Cell) -> list[Error]:
    found = [(one, cut(one)) for one in _by_truth(cell)]
    return [
        Error(truth=one.truth.name, races=one.races, share=said.false, beyond=said.beyond) for one, said in found
    ]


def _ordered(question: Question) -> Counted:
    return lambda cell: [Error(truth=EQUAL.name, races=cell.races, share=false_orders(cell, question))]


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
