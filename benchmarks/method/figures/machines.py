"""What several machines make of a race: errors, time, and how soon unequal ones are found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..noise import MODELS
from ..trials.drawn import EQUAL, NARROW, REALISTIC, WITHIN, Cell
from ..trials.machines import machines, said
from .figure import Figure, Row, bounded, holds, percent

PLAIN = MODELS[0]
CASES = (
    *(Cell(model=PLAIN, stacks=k, races=1, truth=REALISTIC) for k in (3, 5, 10)),
    *(Cell(model=PLAIN, stacks=10, races=1, truth=truth) for truth in (WITHIN, EQUAL)),
    *(Cell(model=model, stacks=5, races=1, truth=NARROW) for model in MODELS),
)
GOAL = 0.60
"""The time of a race on two machines over that on one, at most."""

ROUNDS = (2, 3, 5, 10, 20)
INTERACTIONS = (0.0, 0.05, 0.10)


def _rows(races: int) -> Iterator[Row]:
    for case in CASES:
        cell = replace(case, races=races)
        found = {many: machines(cell, many) for many in (1, 2, 3)}
        one, two, three = found.values()
        times = [each.rounds / one.rounds for each in (two, three)]
        yield Row(
            cells=(f"{case.stacks} stacks, {case.truth.name}, {case.model.name}",
                   *(bounded(each.wrong, races) for each in (one, two, three)),
                   *(f"{each.rounds:.1f}" for each in (one, two, three)), *(f"{time:.2f}" for time in times),
                   percent(two.refused, 1)),
            kept=(holds(two.wrong, races) and times[0] <= GOAL,),
        )  # fmt: skip


def _found(races: int) -> Iterator[Row]:
    for sd in (0.02, 0.03, 0.05):
        for k in (2, 5, 10):
            for slower in INTERACTIONS:
                cell = Cell(model=PLAIN, stacks=k, races=races, truth=NARROW, sd=sd)
                seen, raced = said(cell, slower, ROUNDS), machines(cell, 2, slower)
                yield Row(
                    cells=(f"{k} stacks, sd {percent(sd)} %", f"{percent(slower)} %", *(percent(s) for s in seen),
                           percent(raced.refused, 1), bounded(raced.wrong, races), f"{raced.rounds:.1f}"),
                    kept=(holds(raced.wrong, races),),
                )  # fmt: skip


MACHINES = Figure(
    title="Races on several machines",
    measured="""\
Races on one, two and three machines that differ by some 3 % in speed, not in the ratios of stacks. A round is
one block on each. *Wrong*: names a stack over 5 % behind the best, in per cent with the upper bound; goal as
above. *Rounds*: the mean until the answer. *Time*: rounds with two, and three, machines over those with one;
goal for two: at most 0.60. *Left out*: races that end with a machine called unequal, in per cent. The sd is
5 %.""",
    columns=("race", "wrong: 1", "2", "3", "rounds: 1", "2", "3", "time: 2", "3", "left out"),
    rows=_rows,
    fewer=2,
)

UNEQUAL = Figure(
    title="Machines with other ratios",
    measured="""\
On the second of two machines one stack, drawn by lot, is slower than on the first by so much, all others are
not. In per cent: races that call the machines unequal after so many rounds of all stacks; races for a winner,
5.5 % ahead, that end with one machine left out; and of those the wrong winners, over 5 % behind the best in the
mean over the machines that count. Goal for these as above. The last column is the mean number of rounds.""",
    columns=("race", "slower", *(f"{n} rounds" for n in ROUNDS), "left out at the end", "wrong winner", "rounds"),
    rows=_found,
    fewer=2,
)
