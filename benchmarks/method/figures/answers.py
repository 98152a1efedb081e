"""Answers in 180 s, by schedule and beside sequential runs, and the launches that find a slowed stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from ..noise import MODELS
from ..trials.answers import LANDED, RULE, Answers, Custom, Schedule, answers, customs
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
    rows=_answer_rows,
)  # fmt: skip


TO_THE_END_S = 1e6
"""All races go on until their answer, or 40 blocks."""


def _custom_rows(races: int) -> Iterator[Row]:
    for model in MODELS:
        cells, data = [model.name], {"noise": model.name, "races": races}
        for truth in (REALISTIC, WITHIN):
            cell = Cell(model=model, stacks=10, races=races, truth=truth)
            now = answers(cell, RULE, budget_s=TO_THE_END_S)
            found = {"races": now, **customs(cell)}
            cells += [_errors(one) for one in found.values()]
            data[truth.name] = {name: asdict(one) for name, one in found.items()}
        yield Row(cells=tuple(cells), data=data)


NAMES = ("races", "means of three", "best of three")

CUSTOMS = Figure(
    title="What sequential runs say",
    measured="""\
Ten stacks: races and experiments that name a stack over 5 % behind the best · show some pair that is over 3 %
apart the wrong way round, in per cent. Races go on until they have their answer, for 40 blocks at most. Three
launches of each stack in sequence, by their means or their best, always name somebody and always show an
order.""",
    columns=("noise", *(f"{truth.name}: {name}" for truth in (REALISTIC, WITHIN) for name in NAMES)),
    rows=_custom_rows,
    fewer=8,
)


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
    for k in _FIELDS:
        for name, schedule in _CHOICES.items():
            yield _default_row(k, name, schedule, races)


def _default_row(stacks: int, name: str, schedule: Schedule, races: int) -> Row:
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
    rows=_default_rows,
    fewer=4,
)  # fmt: skip


_SDS = (0.02, 0.03, 0.05)
_SLOWER = (0.10, 0.05)


def _power_rows(races: int) -> Iterator[Row]:
    for slower in _SLOWER:
        for sd in _SDS:
            found = power(Cell(model=MODELS[0], stacks=2, races=races, sd=sd), slower)
            yield Row(
                cells=(f"{percent(slower)} %", f"{percent(sd)} %", *map(percent, found.found),
                       seconds(found.seconds), percent(found.false, 1)),
                data={"slower": slower, "sd": sd, "races": races, **asdict(found)},
            )  # fmt: skip


POWER = Figure(
    title="A slowed stack",
    measured="""\
A race for a ranking of two stacks, one of them slowed, where 2 % matters: races that put it below the other
by so many launches, in per cent; the median time until then on the default schedule; and races that ever put
it above. The sd is that of a launch's value.""",
    columns=("slowed by", "launch sd", *(f"{n} launches" for n in AFTER), "median time", "put above"),
    rows=_power_rows,
)
