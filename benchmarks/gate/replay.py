"""Checks replayed on blocks that exist already, and what a threshold on two sequential runs says of the same."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from stackrace.features.regression.answer import outcome_of, rulings_of
from stackrace.features.regression.model import ON_REQUEST, TERMS
from stackrace.features.regression.series import Series
from stackrace.features.regression.stats import Sample
from stackrace.features.regression.tails import Tails
from stackrace.race.results.comparison import Outcome, Response

from .blocks import Blocks, answers

__all__ = ["Replay", "replayed", "threshold"]

_ALLOWED = {str(response): terms.allowance for response, terms in TERMS.items() if response not in ON_REQUEST}


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
    whole = _whole(blocks)
    rulings, outcome, seconds = (), Outcome.UNDECIDED, 0.0
    for many in range(3, number + 1):
        rulings = rulings_of([_Begun(**series, many=many) for series in whole], _ALLOWED, ended=False)
        outcome, seconds = outcome_of(rulings), float(blocks.ends_s[many - 1])
        if outcome is not Outcome.UNDECIDED:
            break
    else:
        if number:
            rulings = rulings_of([_Begun(**series, many=number) for series in whole], _ALLOWED, ended=True)
            outcome, seconds = outcome_of(rulings), float(blocks.ends_s[number - 1])
    return Replay(
        outcome=outcome,
        slower=tuple(each.response for each in rulings if each.state == "slower"),
        alarms=sum(each.alarm is not None for each in rulings),
        seconds=seconds,
        missed=next((each.missed for each in rulings if each.response is Response.THROUGHPUT), None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun(Series):
    """The first blocks of a series."""

    whole: Sample
    many: int

    def sample(self) -> Sample:
        """Return what the first blocks are: answers of all are pooled once."""
        if isinstance(self.whole, Tails):
            return _cut(self.whole, self.many)
        values = replace(self.whole, values=self.whole.values[: self.many])
        return replace(values, requests=self.whole.requests[: self.many]) if self.requests else values


def _cut(whole: Tails, made: int) -> Tails:
    """Return what ``whole`` was after the first ``made`` pairs, but for its number of answers."""
    batches = sum(end <= made for end in whole.ends)
    return replace(
        whole, base=whole.base[:batches], head=whole.head[:batches], ends=whole.ends[:batches], made=made
    )


def _whole(blocks: Blocks) -> list[dict[str, Any]]:
    found = []
    for response, pairs in blocks.values.items():
        fields = {
            "response": response,
            "blocks": tuple(range(len(pairs))),
            "base": tuple(pairs[:, 0]),
            "head": tuple(pairs[:, 1]),
            "requests": (blocks.requests,) * len(pairs) if response is Response.ERRORS else (),
            "answers": answers(blocks) if response is Response.P99 else (),
        }
        found.append({**fields, "whole": Series(**fields).sample()})
    return found


def threshold(blocks: Blocks, response: Response, percent: float) -> bool:
    """Tell whether one run of the base and, later, one of the head differ by more than ``percent``.

    Each run is one launch, the head's so many blocks later as half of the time holds: as who compares two commits
    one after the other does it.
    """
    pairs = blocks.values[response]
    base, head = pairs[0, 0], pairs[len(pairs) // 2, 1]
    worse = math.log(base / head) if response is Response.THROUGHPUT else math.log(head / base)
    return worse > math.log1p(percent / 100)
