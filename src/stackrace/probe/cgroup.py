"""How long a container's CPU quota has held us back."""

from __future__ import annotations

from .proc import read

__all__ = ["throttled_s"]


def throttled_s() -> float:
    """Return for how long our control group was denied the CPU by its quota; 0 without a quota.

    Source: cgroup-v2.rst, cpu.stat ``throttled_usec``; version 1 calls it ``throttled_time``, in nanoseconds.
    """
    for path in _candidates():
        for line in (read(path) or b"").splitlines():
            name, _, value = line.partition(b" ")
            if name == b"throttled_usec":
                return int(value) / 1e6
            if name == b"throttled_time":
                return int(value) / 1e9
    return 0.0


def _candidates() -> list[str]:
    paths = []
    for line in (read("/proc/self/cgroup") or b"").decode(errors="replace").splitlines():
        number, controllers, group = line.split(":", 2)
        if number == "0":
            paths.append(f"/sys/fs/cgroup{group.rstrip('/')}/cpu.stat")
        elif "cpu" in controllers.split(","):
            paths.append(f"/sys/fs/cgroup/cpu{group.rstrip('/')}/cpu.stat")
    return paths
