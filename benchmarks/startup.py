"""How long `stackrace --help` takes, beside a bare Python: the price of looking something up.

python benchmarks/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 21
STACKRACE = Path(sys.executable).with_name("stackrace")


def median_ms(*command: str) -> float:
    """Return the median wall time of a command over several runs, after one to warm caches."""
    times = []
    for _ in range(RUNS + 1):
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times[1:])


def main() -> None:
    """Print the medians and their ratio."""
    python = median_ms(sys.executable, "-c", "pass")
    ours = median_ms(str(STACKRACE), "--help")
    print(f"start-up, median of {RUNS}")
    print(f"  python -c pass      {python:6.1f} ms")
    print(f"  stackrace --help    {ours:6.1f} ms   {ours / python:.1f} × a bare Python   (goal: under 150 ms)")


if __name__ == "__main__":
    main()
