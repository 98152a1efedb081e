"""What races on a cluster promise: engines that begin together, a cheap coordinator, faults that spoil nothing.

    python -m benchmarks.cluster                    all of it, some hour and a half
    python -m benchmarks.cluster starts cost        these alone
    python -m benchmarks.cluster faults --times 3   fewer of each kind

Machines are network namespaces, made by root and removed afterwards. Exits with 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import sys

from .faults import faults
from .figures import cost, hosts, merging, starts, wires


def main() -> int:
    """Measure what is named; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures = {
        "merging": merging, "starts": starts, "cost": cost, "hosts": hosts, "wires": wires, "faults": faults,
    }  # fmt: skip
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"any of {', '.join(figures)}; default: all")
    parser.add_argument("--times", type=int, default=20, help="How many faults of each kind. Default: 20.")
    given = parser.parse_args()
    unknown = set(given.figures) - set(figures)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: no such figure; there are {', '.join(figures)}")
    kept = [faults(given.times) if name == "faults" else figures[name]() for name in given.figures or figures]
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
