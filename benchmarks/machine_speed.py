"""How steady this machine is: by how much the speed canary differs over the length of a slice.

    python benchmarks/machine_speed.py [SECONDS]

The same work, again and again on one core, is cut into canaries of different length; each is compared with the
one 0.8 s later, as before and after a slice. Where canaries of 50 ms differ as much as those of 2 ms, the
machine's speed itself moves. docs/decisions says what follows.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time

WORK = bytes(128 * 1024)
SLICE_S = 0.8


def work(seconds: float) -> list[tuple[float, int]]:
    """Return when each turn began and what it cost in ns of CPU time."""
    turns = []
    until = time.monotonic() + seconds
    while (now := time.monotonic()) < until:
        begun = time.thread_time_ns()
        hashlib.blake2b(WORK)
        turns.append((now, time.thread_time_ns() - begun))
    return turns


def canaries(turns: list[tuple[float, int]], length_s: float) -> dict[int, int]:
    """Return the least cost within each stretch of ``length_s``, by the stretch's number."""
    least: dict[int, int] = {}
    for at_s, cost in turns:
        number = int((at_s - turns[0][0]) / length_s)
        least[number] = min(cost, least.get(number, cost))
    return least


def changes(least: dict[int, int], apart: int) -> list[float]:
    """Return the ratios, less one, of canaries so many stretches apart, in ascending order."""
    pairs = ((cost, least[number + apart]) for number, cost in least.items() if number + apart in least)
    return sorted(max(pair) / min(pair) - 1 for pair in pairs)


def main() -> None:
    """Measure and print."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    turns = work(float(sys.argv[1]) if len(sys.argv) > 1 else 15.0)
    print("canary    next one   0.8 s later: median   90th percentile   over 10 %   over 25 %")
    for length_s in (0.002, 0.005, 0.01, 0.05):
        least = canaries(turns, length_s)
        near, far = changes(least, 1), changes(least, round(SLICE_S / length_s))
        beyond = [sum(change > limit for change in far) / len(far) for limit in (0.10, 0.25)]
        print(
            f"{1000 * length_s:4.0f} ms {near[len(near) // 2]:11.1%} {far[len(far) // 2]:21.1%} "
            f"{far[int(0.9 * len(far))]:17.1%} {beyond[0]:11.0%} {beyond[1]:11.0%}"
        )


if __name__ == "__main__":
    main()
