"""Checks replayed on blocks that exist already, and what a threshold on two sequential runs says of the same."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stackrace.model.gate import TERMS, Outcome, Response
from stackrace.race.gate.answer import outcome_of, rulings_of
from stackrace.race.gate.series import Series

from .blocks import Blocks

__all__ = ["Replay", "replayed", "threshold"]

_ALLOWED = {str(response): terms.allowance for response, terms in TERMS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What came of a check."""

    outcome: Outcome
    slower: tuple[Response, ...]
    alarms: int
    seconds: float
    missed: float | None
    """The largest slowdown in throughput that could have been missed."""


def replayed(blocks: Blocks, *, budget_s: float) -> Replay:
    """Decide after each block as a check does, until it is answered or its budget is spent."""
    number = int((blocks.ends_s <= budget_s).sum())
    rulings, outcome, seconds = (), Outcome.UNDECIDED, 0.0
    for many in range(3, number + 1):
        rulings, _ = rulings_of(_series(blocks, many), _ALLOWED, ended=False)
        outcome, seconds = outcome_of(rulings), float(blocks.ends_s[many - 1])
        if outcome is not Outcome.UNDECIDED:
            break
    else:
        if number:
            rulings, _ = rulings_of(_series(blocks, number), _ALLOWED, ended=True)
            outcome, seconds = outcome_of(rulings), float(blocks.ends_s[number - 1])
    return Replay(
        outcome=outcome,
        slower=tuple(each.response for each in rulings if each.state == "slower"),
        alarms=sum(each.alarm is not None for each in rulings),
        seconds=seconds,
        missed=next((each.missed for each in rulings if each.response is Response.THROUGHPUT), None),
    )


def _series(blocks: Blocks, many: int) -> list[Series]:
    return [
        Series(
            response=response,
            base=tuple(pairs[:many, 0]),
            head=tuple(pairs[:many, 1]),
            requests=(blocks.requests,) * many if response is Response.ERRORS else (),
            quantile="p99" if response is Response.P99 else "",
        )
        for response, pairs in blocks.values.items()
    ]


def threshold(blocks: Blocks, response: Response, percent: float) -> bool:
    """Tell whether one run of the base and, later, one of the head differ by more than ``percent``.

    Each run is one launch, the head's so many blocks later as half of the time holds: as who compares two commits
    one after the other does it.
    """
    pairs = blocks.values[response]
    base, head = pairs[0, 0], pairs[len(pairs) // 2, 1]
    worse = math.log(base / head) if response is Response.THROUGHPUT else math.log(head / base)
    return worse > math.log1p(percent / 100)
