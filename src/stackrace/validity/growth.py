"""Does a launch change while it is measured: its speed, its memory, the disk it writes to?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import median

from ..base.verdict import Finding, Unit
from .declaration import Declaration, Limits, Made
from .launch_view import LaunchView
from .steady import DIFFERING, SIGNIFICANT, differing
from .trend import thirds

__all__ = ["launch_not_steady", "memory_grows"]

_LEAST_SAMPLES = 6
_LEAST_S = 3.0


@Declaration(
    id="launch-not-steady",
    number=31,
    title="not steady",
    made=(Made.LAUNCH,),
    limits=DIFFERING.limits,
    unit=Unit.SHARE,
    threshold=DIFFERING.threshold,
    rule=DIFFERING.rule,
    seen=DIFFERING.sentence("launch"),
    remedy="a longer warm-up (a larger [race] budget); or does the app cache?",
    source="as for the thirds of a window; O. J. Dunn, JASA 56 (1961)",
)
def launch_not_steady(view: LaunchView) -> Finding | None:
    """At some load level, throughput differs significantly between thirds of the launch.

    Slices of a level lie seconds apart, so they are nearly independent. Fewer than six at a level say nothing.
    The limit on p is shared among the launch's levels.
    """
    trends = [
        thirds([part.throughput_per_s for part in slices if part.verdict.valid]) for slices in view.levels.values()
    ]
    worst = min((trend for trend in trends if trend is not None), key=lambda trend: trend.p, default=None)
    if worst is None or worst.p * len(trends) >= SIGNIFICANT:
        return None
    return differing(launch_not_steady, worst)


@Declaration(
    id="memory-grows",
    number=32,
    title="memory grows",
    made=(Made.LAUNCH,),
    limits=Limits(warns=0.01),
    unit=Unit.SHARE_PER_SECOND,
    of="of load",
    seen="memory grew by {value:percent} for each second of load, to {held_bytes:mib} MiB",
    remedy="does the app keep too much in memory (caches, lists, logged queries)? Servers can end a worker "
    "after so many requests; give all stacks the same number",
    source="H. Theil, 1950; P. K. Sen, JASA 63 (1968) 1379–1389; proc_pid_smaps(5), Pss",
)
def memory_grows(view: LaunchView) -> Finding | None:
    """Memory kept growing under load (median of all slopes between samples).

    A leak makes a stack slower later, and the machine after it. Time counts while the stack is measured, so that
    one that waits its turn is not flattered; what it took up to its first slice is warm-up. It must go on: both
    halves of the samples grow by half of that at least, since a single step may come from elsewhere (pages count in
    shares, so a neighbour of the same program that ends leaves its share to the others; 1 MiB was seen). Fewer than
    six samples, or three seconds of load between them, say nothing.
    """
    samples = [(view.loaded_s(sample.at_s), float(sum(sample.pss_bytes.values()))) for sample in view.launch.memory]
    points = [(loaded_s, held) for loaded_s, held in samples if loaded_s > 0]
    if len(points) < _LEAST_SAMPLES or points[-1][0] - points[0][0] < _LEAST_S:
        return None
    typical = median(held for _, held in points)
    half = len(points) // 2
    share = _slope(points) / typical if typical > 0 else 0.0
    enough = (memory_grows.limits.warns or 0.0) / 2 * typical
    if min(_slope(points[:half]), _slope(points[half:])) < enough:
        return None
    return memory_grows.judge(share, held_bytes=points[-1][1])


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the median of the slopes between any two points, by Theil and Sen; 0 where there are none."""
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if b[0] > a[0]]
    return median(slopes) if slopes else 0.0
