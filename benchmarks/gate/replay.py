"""Checks replayed on blocks that exist already, and what a threshold on two sequential runs says of the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stackrace.features.regression.model import ON_REQUEST, TERMS
from stackrace.features.regression.responses import Shares
from stackrace.features.regression.ruling import family, outcome_of, ruling_of
from stackrace.features.regression.tails import Tails, tails
from stackrace.race.judge.samples import Sample, Values
from stackrace.race.results.comparison import Outcome, Response, Ruling

from .blocks import Blocks, answers

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
    whole = [_sample(blocks, response) for response in blocks.values]
    rulings, outcome, seconds = (), Outcome.UNDECIDED, 0.0
    for many in range(3, number + 1):
        rulings = _rulings([_begun(each, many) for each in whole], ended=False)
        outcome, seconds = outcome_of(rulings), float(blocks.ends_s[many - 1])
        if outcome is not Outcome.UNDECIDED:
            break
    else:
        if number:
            rulings = _rulings([_begun(each, number) for each in whole], ended=True)
            outcome, seconds = outcome_of(rulings), float(blocks.ends_s[number - 1])
    return Replay(
        outcome=outcome,
        slower=tuple(each.response for each in rulings if each.state == "slower"),
        alarms=sum(each.alarm is not None for each in rulings),
        seconds=seconds,
        missed=next((each.missed for each in rulings if each.response is Response.THROUGHPUT), None),
    )


def _rulings(samples: Sequence[Sample], *, ended: bool) -> tuple[Ruling, ...]:
    return tuple(map(ruling_of, family(samples, _ALLOWED, ended=ended)))


def _sample(blocks: Blocks, response: Response) -> Sample:
    """Return all values of a response."""
    base, head = blocks.values[response].T
    if response is Response.P99:
        pooled = answers(blocks)
        return tails([each for each, _ in pooled], [each for _, each in pooled], response)
    if response is Response.ERRORS:
        return Shares(response=response, base=base, head=head, requests=(blocks.requests,) * len(base))
    return Values(response=response, base=base, head=head)


def _begun(whole: Sample, made: int) -> Sample:
    """Return what ``whole`` was after the first ``made`` pairs, but for its number of answers: these are pooled
    once."""
    number = sum(end <= made for end in whole.ends) if isinstance(whole, Tails) else made
    begun = replace(whole, base=whole.base[:number], head=whole.head[:number])
    if isinstance(begun, Shares):
        return replace(begun, requests=begun.requests[:number])
    return replace(begun, ends=begun.ends[:number], made=made) if isinstance(begun, Tails) else begun


def threshold(blocks: Blocks, response: Response, percent: float) -> bool:
    """Tell whether one run of the base and, later, one of the head differ by more than ``percent``.

    Each run is one launch, the head's so many blocks later as half of the time holds: as who compares two commits
    one after the other does it.
    """
    pairs = blocks.values[response]
    base, head = pairs[0, 0], pairs[len(pairs) // 2, 1]
    worse = math.log(base / head) if response is Response.THROUGHPUT else math.log(head / base)
    return worse > math.log1p(percent / 100)
