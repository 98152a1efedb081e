"""Checks of steadiness, within a slice and over its launch: speed and memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median
from typing import Any

from ..base.numbers import percent
from ..base.verdict import Finding, Unit
from ..measure.load import LoadResult
from .declaration import Check, Limits, on_launch, on_slice_and_run
from .observation import LaunchView, Observation

_SMALL = 0.01
_SIGNIFICANT = 0.01

_LEAST_S = 6.0
_BLOCKS = 24
_BLOCK_S = 0.5


_LIMITS = Limits(warns=_SMALL)
_THRESHOLD = f"at most {percent(_SMALL)}, or p of at least {_SIGNIFICANT:g}"
_RULE = f"at most {percent(_SMALL)}, or p at least {_SIGNIFICANT:g}"
_CHANGE_TEMPLATE = "throughput {{change:moved}} of its mean between thirds of the {span} ({{p:p}})"


@on_slice_and_run(
    id="not-steady",
    number=31,
    limits=_LIMITS,
    unit=Unit.SHARE,
    threshold=_THRESHOLD,
    rule=_RULE,
    seen=_CHANGE_TEMPLATE.format(span="{knob.span}"),
    remedy="a longer warm-up, or {knob.longer}",
    source="T. Kalibera, R. Jones, ISMM 2013; E. Barrett et al., OOPSLA 2017",
)
def _not_steady(observation: Observation) -> Finding | None:
    """Throughput differs significantly between thirds of the slice.

    If a cache fills, workers start or memory grows, the figure depends on the length of the measurement. Windows
    under 6 s are too short and are left to the check of the launch. Bins of 100 ms are joined to blocks of at least
    0.5 s, 24 at most, since neighbours resemble each other.
    """
    return _judge_difference(
        _not_steady, _thirds(_blocks(observation.result, bounded=observation.load.requests is not None))
    )


def _judge_difference(check: Check[Any], difference: _Thirds | None) -> Finding | None:
    if difference is None or difference.p >= _SIGNIFICANT:
        return None
    return check.judge(abs(difference.change), change=difference.change, p=difference.p)


def _blocks(result: LoadResult, *, bounded: bool) -> Sequence[float]:
    """Return right answers per block, without the tail of a ``bounded`` run, where connections run out of work."""
    end_s = result.duration_s - (result.latency.p99 if bounded else 0.0)
    if len(result.series) < 2 or end_s < _LEAST_S:
        return ()
    width_s = result.series[1].start_s - result.series[0].start_s
    counts = [span.ok for span in result.series if span.start_s + width_s <= end_s * (1 + 1e-9)]
    size = max(round(_BLOCK_S / width_s), len(counts) // _BLOCKS, 1)
    return [sum(counts[start : start + size]) for start in range(0, len(counts) - size + 1, size)]


_LEAST_SAMPLES = 6
_LEAST_LOADED_S = 3.0


@on_launch(
    id="launch-not-steady",
    number=31,
    title="not steady",
    limits=_LIMITS,
    unit=Unit.SHARE,
    threshold=_THRESHOLD,
    rule=_RULE,
    seen=_CHANGE_TEMPLATE.format(span="launch"),
    remedy="a longer warm-up (a larger [race] budget); or does the app cache?",
    source="as for the thirds of a window; O. J. Dunn, JASA 56 (1961)",
)
def _launch_not_steady(view: LaunchView) -> Finding | None:
    """At some load level, throughput differs significantly between thirds of the launch.

    Slices of a level are seconds apart, so they are nearly independent. Fewer than six at a level are too few. All
    levels of the launch share the limit on p.
    """
    trends = [
        _thirds([part.throughput_per_s for part in slices if part.verdict.valid]) for slices in view.levels.values()
    ]
    worst = min((trend for trend in trends if trend is not None), key=lambda trend: trend.p, default=None)
    if worst is None or worst.p * len(trends) >= _SIGNIFICANT:
        return None
    return _judge_difference(_launch_not_steady, worst)


@on_launch(
    id="memory-grows",
    number=32,
    limits=Limits(warns=0.01),
    unit=Unit.SHARE_PER_SECOND,
    of="of load",
    seen="memory grew by {value:percent} for each second of load, to {held_bytes:mib} MiB",
    remedy="does the app keep too much in memory (caches, lists, logged queries)? Servers can end a worker "
    "after so many requests; give all stacks the same number",
    source="H. Theil, 1950; P. K. Sen, JASA 63 (1968) 1379–1389; proc_pid_smaps(5), Pss",
)
def _memory_grows(view: LaunchView) -> Finding | None:
    """Memory kept growing under load (median of all slopes between samples).

    A leak makes a stack slower later, and then the machine. Only time in which the stack is measured counts, so
    that waiting for a turn does not help a stack; growth up to the first slice is warm-up. The growth must go on:
    each half of the samples must grow by half of the limit at least. A single step may have another cause: a shared
    page counts in parts, so when one process of a program ends, its part goes to the others (1 MiB was seen).
    Fewer than six samples, or three seconds of load between them, are too few.
    """
    samples = [(view.loaded_s(sample.at_s), float(sum(sample.pss_bytes.values()))) for sample in view.launch.memory]
    points = [(loaded_s, held) for loaded_s, held in samples if loaded_s > 0]
    if len(points) < _LEAST_SAMPLES or points[-1][0] - points[0][0] < _LEAST_LOADED_S:
        return None
    typical = median(held for _, held in points)
    half = len(points) // 2
    share = (median_slope(points) or 0.0) / typical if typical > 0 else 0.0
    enough = (_memory_grows.limits.warns or 0.0) / 2 * typical
    if any((median_slope(part) or 0.0) < enough for part in (points[:half], points[half:])):
        return None
    return _memory_grows.judge(share, held_bytes=points[-1][1])


def median_slope(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the median of the slopes between any two points, by Theil and Sen; None without slopes."""
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if b[0] > a[0]]
    return median(slopes) if slopes else None


_LEAST = 6
"""Fewest values of a series: two in each third are the fewest that show their scatter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Thirds:
    """The two thirds of a series that differ most: share of the mean, and probability by chance.

    ``change`` is signed: negative if the later third is lower. ``p`` counts all three comparisons.
    """

    change: float
    p: float


def _thirds(values: Sequence[float]) -> _Thirds | None:
    """Return the comparison of the first, middle and last third of ``values`` (in order of time, means of blocks).

    t = (m_i − m_j) / (s·√(1/n_i + 1/n_j)), s² the variance within thirds with n − 3 degrees of freedom; the p-value
    of the largest |t| is taken three times (Bonferroni). None with less than six values or a mean of zero. Values
    that never vary within their thirds give p = 0 if the thirds differ at all. Neighbouring values must be nearly
    independent: pass means over blocks longer than the correlation, not single bins.

    Source: R. A. Fisher, "Statistical Methods for Research Workers", 1925; O. J. Dunn, JASA 56 (1961).
    """
    mean = fmean(values) if len(values) >= _LEAST else 0.0
    if not mean:
        return None
    cut = round(len(values) / 3)
    parts = [values[:cut], values[cut : len(values) - cut], values[len(values) - cut :]]
    means = [fmean(part) for part in parts]
    freedom = len(values) - 3
    squares = sum((value - own) ** 2 for part, own in zip(parts, means, strict=True) for value in part)
    scatter = math.sqrt(squares / freedom)
    worst = _Thirds(change=0.0, p=1.0)
    for first, second in combinations(range(3), 2):
        change = means[second] - means[first]
        error = scatter * math.sqrt(1 / len(parts[first]) + 1 / len(parts[second]))
        p = min(1.0, 3 * _two_sided(change / error, freedom)) if error else float(change == 0)
        if p < worst.p:
            worst = _Thirds(change=change / mean, p=p)
    return worst


def _two_sided(t: float, freedom: int) -> float:
    """Return P(|T| ≥ |t|) of Student's distribution with two or more whole degrees of freedom.

    Source: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
    """
    theta = math.atan(abs(t) / math.sqrt(freedom))
    sine, cosine = math.sin(theta), math.cos(theta)
    term = total = cosine if freedom % 2 else 1.0
    for number in range(3 if freedom % 2 else 2, freedom, 2):
        term *= cosine * cosine * (number - 1) / number
        total += term
    inside = 2 / math.pi * (theta + sine * total) if freedom % 2 else sine * total
    return max(0.0, 1.0 - inside)
