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


def measure(processes: int, seconds: float, resident_bytes: int) -> str:
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


def race(root_pid: int, processes: int, seconds: float) -> str:
    """Bracket slices and watch memory, as a race does, and return what it cost, CPU as shares of one core."""
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
    assert usage[0].processes == processes, usage
    return (
        f"{processes:9d}  {cpu_s / elapsed_s:7.2%}  {(cpu_s - ends_s) / elapsed_s:7.2%}  "
        f"{1000 * ends_s / slices / 2:9.2f} ms  {len(watch.samples):14d}"
    )


def main() -> None:
    """Print one line per number of processes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to probe (default 10)")
    parser.add_argument("--resident-mib", type=int, default=24, help="memory of each process (default 24)")
    arguments = parser.parse_args()
    print("processes    total    watch   at each end  memory samples")
    for processes in (10, 60):
        print(measure(processes, arguments.seconds, arguments.resident_mib << 20), flush=True)


if __name__ == "__main__":
    main()
