"""Does a launch change while it is measured: its speed, its memory, the disk it writes to?"""

from __future__ import annotations

from itertools import combinations
from statistics import median

from ..model.verdict import Effect, Finding
from .judge import judge, percent
from .launch_view import LaunchView
from .steady import differing
from .trend import thirds

__all__ = ["disk_nearly_full", "launch_not_steady", "memory_grows", "nearly_full"]

_GROWTH = 0.01
_LEAST_SAMPLES = 6
_LEAST_S = 3.0
_FULL = 0.80
_ROOMY_BYTES = 10 * 2**30
_GIB = 2**30


def launch_not_steady(view: LaunchView) -> Finding | None:
    """At some level the slices of the first, middle and last third of the launch differ (> 1 %, p < 0.01).

    Slices of a level lie seconds apart, so they are nearly independent. Fewer than six at a level say nothing.
    The limit on p is shared among the launch's levels.

    Source: as for the thirds of a window; O. J. Dunn, JASA 56 (1961), on several comparisons.
    """
    found = [
        thirds([one.result.throughput_per_s for one in slices if one.verdict.valid])
        for slices in view.levels.values()
    ]
    worst = min((one for one in found if one is not None), key=lambda one: one.p, default=None)
    if worst is None or worst.p * len(found) >= 0.01:
        return None
    return differing(
        worst, span="launch", remedy="a longer warm-up (a larger [race] budget); or does the app cache?"
    )


def memory_grows(view: LaunchView) -> Finding | None:
    """Memory grew by over 1 % for each second of load, by the median of all slopes between samples.

    A leak makes a stack slower later, and the machine after it. Time counts while the stack is measured, so that
    one that waits its turn is not flattered; what it took up to its first slice is warm-up. Fewer than six samples,
    or three seconds of load between them, say nothing.

    Source: H. Theil, 1950; P. K. Sen, JASA 63 (1968) 1379–1389. proc_pid_smaps(5), Pss.
    """
    seen = [(view.loaded_s(one.at_s), float(sum(one.pss_bytes.values()))) for one in view.launch.memory]
    points = [(loaded_s, held) for loaded_s, held in seen if loaded_s > 0]
    if len(points) < _LEAST_SAMPLES or points[-1][0] - points[0][0] < _LEAST_S:
        return None
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if b[0] > a[0]]
    typical = median(held for _, held in points)
    share = median(slopes) / typical if typical > 0 else 0.0
    return judge(
        "memory grows",
        share,
        warns=_GROWTH,
        seen=f"memory grew by {percent(share)} for each second of load, to {points[-1][1] / 2**20:.0f} MiB",
        remedy="does the app keep what it should let go (caches, lists, logged queries)? Servers can end a worker "
        "after so many requests; give all stacks the same number",
        unit=lambda limit: f"{percent(limit)} per second",
    )


def disk_nearly_full(view: LaunchView) -> Finding | None:
    """Over 80 % of the file system that holds the run directories is taken, and less than 10 GiB is left.

    A share alone would accuse large disks with hundreds of GiB to spare.

    Source: statvfs(3).
    """
    return nearly_full(view.aftermath.disk_bytes, view.aftermath.disk_free_bytes)


def nearly_full(total_bytes: int, free_bytes: int) -> Finding | None:
    """Judge a file system of ``total_bytes``, 0 when unknown."""
    if not total_bytes or free_bytes >= _ROOMY_BYTES or free_bytes >= (1 - _FULL) * total_bytes:
        return None
    return Finding(
        check="disk nearly full",
        effect=Effect.WARNS,
        seen=f"the disk of the run directory is {percent(1 - free_bytes / total_bytes)} full, "
        f"{free_bytes / _GIB:.1f} GiB are left",
        threshold=f"at most {percent(_FULL)}, or {_ROOMY_BYTES / _GIB:.0f} GiB left",
        remedy="free some space, or set TMPDIR to a folder on a roomier disk",
    )
