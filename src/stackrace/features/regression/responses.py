"""The values of each response from the launches of both sides, pair by pair, and the launches that failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from statistics import fmean
from typing import Any

import numpy as np

from ...measure.engine.histogram import distribution, merge
from ...measure.launch import FailureKind, Launch, Slice
from ...race.judge.samples import Look, Sample, Values
from ...race.results.comparison import Response
from ...race.results.race import Race
from ...race.run.resume import counted
from ...stacks.stack import Side, side_of
from ...stats.summary import Buckets, mean_of
from ...validity.answers import changed_by
from .model import ChangingPages, FailedLaunches, GateFacts
from .tails import tails


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares(Values):
    """Shares of requests, such as errors; the differences are those of the shares themselves.

    The mean is not trimmed: a few pairs may have all errors, and trimming would remove exactly these.
    """

    requests: Sequence[int]
    """Number of the head's requests, pair by pair."""

    def look(self, first: int, last: int) -> Look:
        mean = mean_of(np.subtract(self.head[first:last], self.base[first:last]), last + 1)
        return replace(mean, requests=max(sum(self.requests[first:last]), 1))

    def sides(self, first: int, last: int) -> tuple[float, float]:
        return float(np.mean(self.base[first:last])), float(np.mean(self.head[first:last]))

    def difference(self, share: float) -> float:
        return share

    def share(self, difference: float) -> float:
        return difference


Pair = tuple[Launch, Launch]
"""The base's and the head's launch in one block."""

FAILED_OF_A_SIDE = 4
"""Number of failed launches of a side in a row that is no accident; the side is then not launched again."""


def samples_of(race: Race, responses: Iterable[Response]) -> tuple[Sample, ...]:
    """Return the samples of ``responses``: one for each workload, but one in all for a response of launches.

    Only valid slices of valid launches count; for errors, invalid slices, too: often errors made them invalid.
    """
    pairs, wanted = pairs_of(race), tuple(responses)
    asked = [(each, name) for name in tuple(race.workloads) or ("",) for each in wanted if not each.of_launch]
    asked += [(each, "") for each in wanted if each.of_launch]
    return tuple(_sample(response, workload, pairs) for response, workload in asked)


def pairs_of(race: Race) -> list[Pair]:
    """Return the base's and the head's launch of each block in which both are valid and did not fail.

    A launch that died has no values; `failed_launches` counts it.
    """
    sides: dict[int, dict[Side, Launch]] = {}
    for launch in counted(race).launches:
        side = side_of(launch.stack)
        if side is not None and launch.verdict.valid and not _has_failed(launch):
            sides.setdefault(launch.block, {})[side] = launch
    return [(both[Side.BASE], both[Side.HEAD]) for _, both in sorted(sides.items()) if len(both) == 2]


def slices_of(launch: Launch, workload: str | None = None) -> list[Slice]:
    """Return the valid slices of a launch: those of ``workload``, or all if it is None."""
    return [each for each in launch.slices if each.verdict.valid and workload in (None, each.workload)]


def _sample(response: Response, workload: str, pairs: Sequence[Pair]) -> Sample:
    """Return the sample of a response, from the blocks in which both sides have a value other than 0."""
    value = _VALUES.get(response, _answers)
    both = [(base.block, value(base, workload), value(head, workload)) for base, head in pairs]
    kept = [each for each in both if each[1] and each[2]]
    base: list[Any] = [base for _, base, _ in kept]
    head: list[Any] = [head for _, _, head in kept]
    of: dict[str, Any] = {"response": response, "workload": workload, "blocks": tuple(block for block, *_ in kept)}
    if response.quantile is not None:
        return tails(base, head, **of)
    if response is not Response.ERRORS:
        return Values(base=base, head=head, **of)
    shares = ([wrong / requests for wrong, requests in side] for side in (base, head))
    return Shares(base=next(shares), head=next(shares), requests=[requests for _, requests in head], **of)


def _answers(launch: Launch, workload: str) -> Buckets:
    slices = slices_of(launch, workload)
    histograms = tuple(each.result.histogram for each in slices if each.result.histogram)
    return _pooled(histograms) if histograms else ()


@lru_cache(maxsize=4096)
def _pooled(histograms: tuple[bytes, ...]) -> Buckets:
    return tuple((bucket.value_s, bucket.count) for bucket in distribution(merge(histograms)) if bucket.value_s > 0)


def _wrong(launch: Launch, workload: str) -> tuple[int, int] | None:
    counts = [each.result.counts for each in launch.slices if each.workload == workload]
    wrong = sum(each.errors for each in counts)
    requests = wrong + sum(each.ok for each in counts)
    return (wrong, requests) if requests else None


def _mean(value: Callable[[Slice], float]) -> Callable[[Launch, str], float]:
    """Return a function for the geometric mean over the slices of a launch and a workload; 0 without slices."""

    def mean(launch: Launch, workload: str) -> float:
        values = [value(each) for each in slices_of(launch, workload) if each.result.counts.ok]
        return math.exp(fmean(map(math.log, values))) if values and min(values) > 0 else 0.0

    return mean


_VALUES: dict[Response, Callable[[Launch, str], Any]] = {
    Response.THROUGHPUT: _mean(lambda each: each.throughput_per_s),
    Response.CPU: _mean(lambda each: each.cpu_s / each.result.counts.ok),
    Response.ERRORS: _wrong,
    Response.MEMORY: lambda launch, _: float(launch.peak_bytes),
    Response.START: lambda launch, _: launch.ready_s,
}
"""Function that returns a launch's value of each response; `_answers` does it for quantiles."""


_IN_ALL = 7
"""Number of failed launches of the head that is no accident while none of the base's failed: ½⁷ < 1 %."""

_NO_FAILURE = (FailureKind.INTERRUPTED, FailureKind.NOT_STOPPED)
"""Failures that do not count: an interrupted launch is repeated, and one that stops late was measured before."""


def _has_failed(launch: Launch) -> bool:
    return launch.failure is not None and launch.failure.kind not in _NO_FAILURE


def failed_launches(race: Race) -> FailedLaunches:
    """Return how many launches of each side failed; they are confirmed if the head causes the failures.

    The head causes them if none of the base's launches failed, and ``FAILED_OF_A_SIDE`` of the head's in a row, or
    ``_IN_ALL`` in total. If both sides fail equally often, only the head fails so often in less than 1 % of checks:
    with a probability q of a failure, (q(1 − q))⁴ < ½⁸ for each row, and ½⁷ for the first seven.
    """
    base, head = _failures(race, Side.BASE), _failures(race, Side.HEAD)
    rows = (head[first : first + FAILED_OF_A_SIDE] for first in range(len(head) - FAILED_OF_A_SIDE + 1))
    enough = sum(head) >= _IN_ALL or any(map(all, rows))
    return FailedLaunches(base=sum(base), head=sum(head), confirmed=enough and bool(base) and not any(base))


def failures_needed(race: Race) -> int:
    """Return how many further launches of each side would confirm the head's failures, at their rate so far.

    At least one launch of the head must have failed.
    """
    head = _failures(race, Side.HEAD)
    return math.ceil(max(_IN_ALL - sum(head), 1) * len(head) / sum(head))


def changing_pages(race: Race) -> ChangingPages:
    """Return the pages that changed in the head's app itself during the check, and never in the base's.

    If a stack's answer differs from the app's earlier one, the app is asked again, many times; if its own
    answers change, less is expected of the page. The changes are confirmed if the base, measured in a later
    block, still had not changed. A page may have changed before the first block, while the apps were examined.
    """
    first: dict[Side, dict[str, int]] = {Side.BASE: {}, Side.HEAD: {}}
    last = -1
    for launch in race.launches:
        side = side_of(launch.stack)
        if side is None:
            continue
        if side is Side.BASE and slices_of(launch):
            last = max(last, launch.block)
        for page in chain.from_iterable(changed_by(each.verdict) for each in launch.slices):
            first[side].setdefault(page, launch.block)
    facts = race.parts.get(GateFacts)
    for page in facts.changed_rarely if facts is not None else ():
        first[Side.HEAD][page] = -1
    own = {page: block for page, block in first[Side.HEAD].items() if page not in first[Side.BASE]}
    return ChangingPages(names=tuple(own), confirmed=any(last > block for block in own.values()))


def is_down(race: Race, side: Side) -> bool:
    """Return True if the last ``FAILED_OF_A_SIDE`` launches of a side all failed: it is not launched again."""
    last = _failures(race, side)[-FAILED_OF_A_SIDE:]
    return len(last) == FAILED_OF_A_SIDE and all(last)


def _failures(race: Race, side: Side) -> list[bool]:
    own = [launch for launch in race.launches if side_of(launch.stack) is side and not launch.cut_short]
    return list(map(_has_failed, own))
