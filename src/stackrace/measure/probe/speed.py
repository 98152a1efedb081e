"""How fast the machine is right now: the same piece of work again and again, and what hardware says of itself."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence

from .proc import read_number

__all__ = ["canary_ns", "frequency_khz", "heat_stops"]

_CPU = "/sys/devices/system/cpu"
_HASHED = bytes(48 * 1024)
_COUNTED = 6000
_TURNS = 12
_MOST_CORES = 4


def canary_ns(cores: Sequence[int]) -> float:
    """Return what a fixed piece of work costs on ``cores`` now: nanoseconds of CPU time, their mean; 0 for none.

    A turn is BLAKE2b (RFC 7693) over 48 KiB and about as long of Python's own loop, a quarter of a millisecond on a
    core of today: what slows only one of them is not the machine. The least of twelve turns counts, in CPU time,
    so that neither an interrupt nor waiting for the core shows, but frequency, a busy sibling thread and stolen
    cycles do. All of it takes 3 ms per core, of which at most four are asked, the first and the last among them.
    The calling thread visits each core and then goes back to where it was allowed before.

    A canary of 50 ms knows no more than one of 3 ms where the speed itself shifts: docs/decisions has the
    figures.
    """
    allowed = os.sched_getaffinity(0)
    costs = []
    try:
        for core in _spread(cores):
            try:
                os.sched_setaffinity(0, {core})
            except OSError:
                continue  # taken offline, or forbidden to us
            costs.append(min(_turn_ns() for _ in range(_TURNS)))
    finally:
        os.sched_setaffinity(0, allowed)
    return sum(costs) / len(costs) if costs else 0.0


def _turn_ns() -> int:
    begun = time.thread_time_ns()
    hashlib.blake2b(_HASHED)
    for _ in range(_COUNTED):
        pass
    return time.thread_time_ns() - begun


def _spread(cores: Sequence[int]) -> Sequence[int]:
    """At most four, evenly from the first to the last."""
    if len(cores) <= _MOST_CORES:
        return cores
    step = (len(cores) - 1) / (_MOST_CORES - 1)
    return [cores[round(place * step)] for place in range(_MOST_CORES)]


def frequency_khz(cores: Sequence[int]) -> float:
    """Return the mean frequency at which ``cores`` run now; 0 where the machine does not tell (most virtual ones).

    Source: Documentation/admin-guide/pm/cpufreq.rst, ``scaling_cur_freq``.
    """
    readings = [read_number(f"{_CPU}/cpu{core}/cpufreq/scaling_cur_freq") for core in cores]
    known = [khz for khz in readings if khz > 0]
    return sum(known) / len(known) if known else 0.0


def heat_stops(cores: Sequence[int]) -> int:
    """Return how often ``cores`` or their package were slowed down for heat since boot; 0 where it is not told.

    Source: Documentation/ABI/testing/sysfs-devices-system-cpu, ``thermal_throttle`` (Intel alone has it).
    """
    return max(
        (
            read_number(f"{_CPU}/cpu{core}/thermal_throttle/{counter}_throttle_count")
            for core in cores
            for counter in ("core", "package")
        ),
        default=0,
    )
