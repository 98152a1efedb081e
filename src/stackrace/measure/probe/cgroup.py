"""What our control group tells: how long its quota held us back, what it is allowed."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

from .proc import read

__all__ = ["allowed_cores", "delegated", "throttled_s"]

_V2 = "/sys/fs/cgroup"
_HYBRID = "/sys/fs/cgroup/unified"


def throttled_s() -> float:
    """Return for how long our control group, or one around it, was denied the CPU by its quota; 0 without a quota.

    A quota counts where it was set, so the groups around ours are read, too; the longest stop counts.
    Source: cgroup-v2.rst, cpu.stat ``throttled_usec``; version 1 calls it ``throttled_time``, in nanoseconds.
    """
    return max((_throttled_in(f"{group}/cpu.stat") for group in _groups()), default=0.0)


def _throttled_in(path: str) -> float:
    for line in (read(path) or b"").splitlines():
        name, _, value = line.partition(b" ")
        if name == b"throttled_usec":
            return int(value) / 1e6
        if name == b"throttled_time":
            return int(value) / 1e9
    return 0.0


def allowed_cores() -> float:
    """Return how many cores' worth of CPU time the strictest quota around us grants; infinite without a quota.

    Source: cgroup-v2.rst, cpu.max; sched-bwc.rst, cpu.cfs_quota_us and cpu.cfs_period_us.
    """
    return min((_quota_of(group) for group in _groups()), default=math.inf)


def _quota_of(group: str) -> float:
    words = (read(f"{group}/cpu.max") or b"").split() or [
        *(read(f"{group}/cpu.cfs_quota_us") or b"").split(),
        *(read(f"{group}/cpu.cfs_period_us") or b"").split(),
    ]
    if len(words) != 2 or not words[0].isdigit() or not words[1].isdigit():
        return math.inf  # "max" or -1
    return int(words[0]) / int(words[1])


def _groups() -> Iterator[str]:
    """Our CPU group's folder and those around it, in either version of control groups."""
    yield from _upwards(_V2, _path("0"))
    if group := _path("cpu"):
        yield from _upwards("/sys/fs/cgroup/cpu", group)


def _upwards(top: str, group: str) -> Iterator[str]:
    while group.strip("/"):
        yield f"{top}{group.rstrip('/')}"
        group = group.rstrip("/").rpartition("/")[0]
    yield top


def _path(hierarchy: str) -> str:
    """Our group in version 2 (``0``) or with this controller in version 1. Source: cgroups(7)."""
    for line in (read("/proc/self/cgroup") or b"").decode(errors="replace").splitlines():
        number, controllers, group = line.split(":", 2)
        if hierarchy in (number, *controllers.split(",")):
            return group
    return ""


def delegated() -> bool | None:
    """Whether we may make control groups of our own below ours; None where version 2 is not mounted.

    Source: cgroup-v2.rst, "Delegation": the folder, its ``cgroup.procs`` and ``cgroup.subtree_control`` are ours.
    """
    group = _path("0").rstrip("/")
    for top in (_V2, _HYBRID):
        if os.path.exists(f"{top}/cgroup.controllers"):  # noqa: PTH110 (strings all through)
            files = ("", "/cgroup.procs", "/cgroup.subtree_control")
            useful = {b"memory", b"cpuset"} <= set((read(f"{top}{group}/cgroup.controllers") or b"").split())
            return useful and all(os.access(f"{top}{group}{name}", os.W_OK) for name in files)
    return None
