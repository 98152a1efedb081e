"""How equal the machines of a race were, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.interval import Interval
from ...stats.values.machines import MachineComparison, MachineVerdict
from .phrases import times

__all__ = ["machines"]


def machines(compared: Sequence[MachineComparison]) -> str:
    """Return the sentences; empty where there is one machine alone."""
    return " ".join(text for one in compared for text in (*_speed(one), *_ratios(one)))


def _speed(one: MachineComparison) -> Iterator[str]:
    if one.ratio is None:
        return
    seen = f"the same stacks delivered {times(one.ratio)} the throughput"
    match one.speed:
        case MachineVerdict.EQUAL:
            yield f"{one.machine} is as fast as {one.against}: {seen}."
        case MachineVerdict.UNEQUAL:
            yield f"{one.machine} is {_pace(one.ratio)} than {one.against}: {seen}."
            yield "This does not change the ratios of stacks."
        case _:
            yield f"Whether {one.machine} is as fast as {one.against} cannot be told yet: {seen}."


def _pace(ratio: Interval) -> str:
    return "slower" if ratio.value < 1 else "faster"


def _ratios(one: MachineComparison) -> Iterator[str]:
    if one.shift is None:
        return
    pair = f"{one.shift.first} ÷ {one.shift.second}"
    seen = f"on {one.machine} {pair} is {times(one.shift.shift)} what it is on {one.against}"
    match one.ratios:
        case MachineVerdict.EQUAL:
            yield f"The ratios of the stacks are equal on {one.machine} and {one.against}."
        case MachineVerdict.UNEQUAL:
            yield f"The ratios of the stacks differ: {seen}. All that {one.machine} measured is left out."
        case _:
            yield f"Whether the ratios of the stacks are equal cannot be told yet: {seen}."
