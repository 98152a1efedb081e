"""The values of each response, block by block and side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ...model.gate import Response
from ...model.launch import Launch, Slice
from ...model.race import Race
from ...model.stack import Side, side_of
from ..resume import counted
from .failures import failed

__all__ = ["Series", "series_of"]

FIRST_BLOCKS = 3
"""So many blocks tell which quantile of latency has enough answers beyond it; it stays the same afterwards."""

QUANTILES = (("p99", 300), ("p90", 30), ("p50", 0))
"""The quantile that is judged where a launch's slices together have so many answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One response, over the blocks in which both sides have a value."""

    response: Response
    workload: str = ""
    quantile: str = ""
    """Of latency: which."""
    blocks: tuple[int, ...] = ()
    """Their numbers."""
    base: tuple[float, ...] = ()
    """In the response's own unit."""
    head: tuple[float, ...] = ()
    requests: tuple[int, ...] = ()
    """Of errors: how many requests the head's share is one of, block by block."""

    @property
    def differences(self) -> tuple[float, ...]:
        """How much worse the head is: ln of the ratio, of errors the difference of the shares."""
        if self.response is Response.ERRORS:
            return tuple(head - base for base, head in zip(self.base, self.head, strict=True))
        sign = -1.0 if self.response is Response.THROUGHPUT else 1.0
        return tuple(sign * math.log(head / base) for base, head in zip(self.base, self.head, strict=True))


def series_of(race: Race, responses: Iterable[Response]) -> tuple[Series, ...]:
    """Return what valid launches say of ``responses``: of a launch once, of all others workload by workload.

    Of errors invalid slices count, too, for often it is errors that made them so.
    """
    pairs = _pairs(counted(race).launches)
    workloads = tuple(race.workloads) or ("",)
    wanted = tuple(responses)
    of_workloads = [
        _of_slices(response, workload, pairs)
        for workload in workloads
        for response in wanted
        if not response.of_launch
    ]
    return (*of_workloads, *(_of_launches(response, pairs) for response in wanted if response.of_launch))


_Pair = tuple[Launch, Launch]


def _pairs(launches: Sequence[Launch]) -> list[_Pair]:
    """Return base and head of each block that has both, and nothing wrong with either.

    What a launch showed before it died is no launch's worth, and failures count by themselves: see `failures`.
    """
    sides: dict[int, dict[Side, Launch]] = {}
    for launch in launches:
        side = side_of(launch.stack)
        if side is not None and launch.verdict.valid and not failed(launch):
            sides.setdefault(launch.block, {})[side] = launch
    return [
        (both[Side.BASE], both[Side.HEAD])
        for _, both in sorted(sides.items())
        if Side.BASE in both and Side.HEAD in both
    ]


def _of_launches(response: Response, pairs: Sequence[_Pair]) -> Series:
    def value(launch: Launch) -> float:
        return float(launch.peak_bytes) if response is Response.MEMORY else launch.ready_s or 0.0

    return _paired(response, pairs, [(value(base), value(head)) for base, head in pairs])


def _of_slices(response: Response, workload: str, pairs: Sequence[_Pair]) -> Series:
    own = [(_slices(base, workload), _slices(head, workload)) for base, head in pairs]
    if response is Response.ERRORS:
        return _errors(workload, pairs, own)
    valid = [tuple([each for each in side if each.verdict.valid] for side in both) for both in own]
    quantile = (
        _quantile([side for both in valid[:FIRST_BLOCKS] for side in both]) if response is Response.P99 else ""
    )
    value = _VALUES.get(response) or (lambda each: float(getattr(each.result.latency, quantile)))
    means = [(_mean(base, value), _mean(head, value)) for base, head in valid]
    return _paired(response, pairs, means, workload, quantile)


def _paired(
    response: Response,
    pairs: Sequence[_Pair],
    values: Sequence[tuple[float, float]],
    workload: str = "",
    quantile: str = "",
) -> Series:
    """Keep the blocks in which both sides have a value above zero."""
    kept = [(pair[0].block, *both) for pair, both in zip(pairs, values, strict=True) if min(both) > 0]
    return Series(
        response=response,
        workload=workload,
        quantile=quantile,
        blocks=tuple(block for block, _, _ in kept),
        base=tuple(base for _, base, _ in kept),
        head=tuple(head for _, _, head in kept),
    )


def _errors(workload: str, pairs: Sequence[_Pair], own: Sequence[tuple[list[Slice], list[Slice]]]) -> Series:
    counts = [(pair[0].block, _wrong(base), _wrong(head)) for pair, (base, head) in zip(pairs, own, strict=True)]
    kept = [(block, base, head) for block, base, head in counts if base[1] and head[1]]
    return Series(
        response=Response.ERRORS,
        workload=workload,
        blocks=tuple(block for block, _, _ in kept),
        base=tuple(wrong / requests for _, (wrong, requests), _ in kept),
        head=tuple(wrong / requests for _, _, (wrong, requests) in kept),
        requests=tuple(requests for _, _, (_, requests) in kept),
    )


def _wrong(slices: Iterable[Slice]) -> tuple[int, int]:
    """Return how many requests went wrong, and of how many."""
    counts = [each.result.counts for each in slices]
    wrong = sum(each.errors for each in counts)
    return wrong, wrong + sum(each.ok for each in counts)


def _slices(launch: Launch, workload: str) -> list[Slice]:
    return [each for each in launch.slices if each.workload == workload]


def _quantile(sides: Iterable[Sequence[Slice]]) -> str:
    """Return the highest quantile that the smallest of these launches tells something about."""
    least = min((sum(each.result.counts.ok for each in side) for side in sides if side), default=0)
    return next(name for name, enough in QUANTILES if least >= enough)


def _mean(slices: Iterable[Slice], value: Callable[[Slice], float]) -> float:
    """Return the geometric mean, 0 where there is none."""
    values = [value(each) for each in slices if each.result.counts.ok]
    return math.exp(fmean(map(math.log, values))) if values and min(values) > 0 else 0.0


_VALUES: dict[Response, Callable[[Slice], float]] = {
    Response.THROUGHPUT: lambda each: each.result.throughput_per_s,
    Response.CPU: lambda each: each.cpu_s / each.result.counts.ok,
}
