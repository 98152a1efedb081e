"""Answers in 180 s, by schedule and beside sequential runs, and the launches that find a slowed stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from ..noise import MODELS
from ..trials.answers import RULE, Answers, Custom, answers, customs
from ..trials.drawn import EQUAL, REALISTIC, WITHIN, Cell, Truth
from ..trials.power import AFTER, power
from .figure import Figure, Row, bounded, holds, percent, seconds

_SD = 0.05
_QUIET_SD = 0.04
_CASES = (
    (3, REALISTIC, _SD),
    (5, REALISTIC, _SD),
    (10, REALISTIC, _SD),
    (10, WITHIN, _SD),
    (10, EQUAL, _SD),
    (10, REALISTIC, 2 * _SD),
    (10, WITHIN, _QUIET_SD),
    (10, EQUAL, _QUIET_SD),
)


def _answer_rows(races: int) -> Iterator[Row]:
    for k, truth, sd in _CASES:
        cell = Cell(model=MODELS[0], stacks=k, races=races, truth=truth, sd=sd)
        now = answers(cell, RULE)
        yield Row(
            cells=(_name(k, truth, sd), _in_time(now), bounded(now.wrong, races),
                   *map(_errors, (now, *customs(cell).values()))),
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
Races that have their answer in 180 s, in per cent, with the median time: 0.9 s a launch, gaps of 0.2 s, side
levels in block 1, the twin in blocks 1 to 3, two slices of 0.2 s, each worth as much as one of half a second, as
where a machine's speed flickers. *Wrong winner*: names a stack over 5 % behind the best; goal at most 5, bound at
most 6.5. The last three columns, of races and of three launches of each stack in sequence: names a stack over 5 %
behind the best · shows some pair that is over 3 % apart the wrong way round in its table. The sd is that of a
launch with one slice of half a second, four fifths of its variance within launches; noise is independent.""",
    columns=("race", "answered", "wrong winner", "errors", "means of three in sequence", "best of three"),
    rows=_answer_rows,
)  # fmt: skip


_FIELDS = (6, 8, 10)
_CHOICES = {
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


def _default_rows(races: int) -> Iterator[Row]:
    for k, (name, schedule) in product(_FIELDS, _CHOICES.items()):
        found = [
            answers(Cell(model=MODELS[0], stacks=k, races=races, truth=truth), replace(schedule, white=white))
            for truth, white in product((REALISTIC, WITHIN), (1.0, 0.0))
        ]
        worst = max(one.wrong for one in found)
        yield Row(cells=(str(k), name, *map(_in_time, found), bounded(worst, races)), kept=(holds(worst, races),))


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
    rows=_default_rows,
    fewer=4,
)  # fmt: skip


def _power_rows(races: int) -> Iterator[Row]:
    for slower, sd in product((0.10, 0.05), (0.02, 0.03, 0.05)):
        found = power(Cell(model=MODELS[0], stacks=2, races=races, sd=sd), slower)
        shown = (*map(percent, found.found), seconds(found.seconds), percent(found.false, 1))
        yield Row(cells=(f"{percent(slower)} %", f"{percent(sd)} %", *shown))


POWER = Figure(
    title="A slowed stack",
    measured="""\
A race for a ranking of two stacks, one of them slowed, where 2 % matters: races that put it below the other
by so many launches, in per cent; the median time until then on the default schedule; and races that ever put
it above. The sd is that of a launch's value.""",
    columns=("slowed by", "launch sd", *(f"{n} launches" for n in AFTER), "median time", "put above"),
    rows=_power_rows,
)
