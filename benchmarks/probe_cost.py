"""What the probe costs: CPU of the measuring process as a share of one core, in a race of two-second slices.

    python benchmarks/probe_cost.py [--seconds 10] [--resident-mib 24]

A root process in a session of its own forks idle Python workers that each hold touched memory of their own,
as an application would. The share is this process's own CPU clock, kernel time included, over wall time;
nothing else runs in it. "At each end" of a slice machine counters and CPU clocks are read; "watch" is the
memory watch alone, which runs during the slice. Its first sample is never paid for in advance, so its share
is above its allowance of 0.4 % in a short run and tends to it in a long one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass

from stackrace.measure.probe import MemoryWatch, Sampler, difference, read_machine

SLICE_S = 2.0
ROOT = """
import os, signal, sys, time
workers, size = int(sys.argv[1]), int(sys.argv[2])
for _ in range(workers - 1):
    if os.fork() == 0:
        break
memory = bytearray(os.urandom(4096) * (size // 4096))
print("ready", flush=True)
signal.pause()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU shares of one core; ``slice_end_ms`` is one end of a slice."""

    processes: int
    total: float
    watch: float
    slice_end_ms: float
    samples: int
    counted: int


def measure(processes: int, seconds: float, resident_bytes: int) -> Cost:
    """Run the probe beside ``processes`` idle ones for about ``seconds``."""
    root = subprocess.Popen(
        [sys.executable, "-c", ROOT, str(processes), str(resident_bytes)],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert root.stdout is not None
        for _ in range(processes):
            root.stdout.readline()
        return race(root.pid, processes, seconds)
    finally:
        os.killpg(root.pid, 9)
        root.wait()


def race(root_pid: int, processes: int, seconds: float) -> Cost:
    """Bracket slices and watch memory, as a race does, and account for it."""
    began, cpu_before, ends_s = time.monotonic(), time.process_time(), 0.0
    slices = max(1, round(seconds / SLICE_S))
    sampler = Sampler({"hop": [root_pid]}, os.getpid())
    with MemoryWatch(sampler, began) as watch:
        for _ in range(slices):
            mark = time.thread_time()
            before = read_machine()
            sampler.begin()
            ends_s += time.thread_time() - mark
            time.sleep(SLICE_S)
            mark = time.thread_time()
            usage = sampler.end()
            difference(before, read_machine())
            ends_s += time.thread_time() - mark
    elapsed_s, cpu_s = time.monotonic() - began, time.process_time() - cpu_before
    return Cost(
        processes=processes,
        total=cpu_s / elapsed_s,
        watch=(cpu_s - ends_s) / elapsed_s,
        slice_end_ms=1000 * ends_s / slices / 2,
        samples=len(watch.samples),
        counted=usage[0].processes,
    )


def main() -> None:
    """Print one line per number of processes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to probe (default 10)")
    parser.add_argument("--resident-mib", type=int, default=24, help="memory of each process (default 24)")
    arguments = parser.parse_args()
    print("processes    total    watch   at each end  memory samples")
    for processes in (10, 60):
        cost = measure(processes, arguments.seconds, arguments.resident_mib << 20)
        assert cost.counted == processes, cost
        shares = f"{cost.total:7.2%}  {cost.watch:7.2%}"
        print(f"{cost.processes:9d}  {shares}  {cost.slice_end_ms:9.2f} ms  {cost.samples:14d}")


if __name__ == "__main__":
    main()
