"""A stack slowed by a known amount, by number of launches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from ..noise import MODELS
from ..trials.drawn import Cell
from ..trials.power import AFTER, power
from .figure import Figure, Row, percent, seconds

SDS = (0.02, 0.03, 0.05)
SLOWER = (0.10, 0.05)


def _rows(races: int) -> Iterator[Row]:
    for slower in SLOWER:
        for sd in SDS:
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
    rows=_rows,
)
