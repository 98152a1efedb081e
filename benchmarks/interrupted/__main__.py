"""End each verb at random moments of its whole life: no traceback, nothing left behind, nothing half written.

    python -m benchmarks.interrupted [--times 100] [--signal INT|TERM|HUP] [VERB…]

Prints a line for each verb: how often it was ended, the exit codes, and what went wrong. Exits with 1 where
something did. HUP closes the terminal that the verb runs in. A process that is ended before the verb begins, or
after its end, ends by the signal itself: -2, -15 or -1.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys

from .tries import interrupt_often
from .verbs import VERBS


def main() -> int:
    """Interrupt each verb; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verbs", nargs="*", metavar="VERB", help=f"any of {', '.join(VERBS)}; default: all")
    parser.add_argument("--times", type=int, default=100, help="How often each is ended. Default: 100.")
    parser.add_argument("--signal", choices=["INT", "TERM", "HUP"], default="INT", help="Default: INT, as Ctrl-C.")
    parser.add_argument("--seed", type=int, default=7, help="Of the moments. Default: 7.")
    given = parser.parse_args()
    number = signal.Signals[f"SIG{given.signal}"]
    wrong = 0
    for verb in given.verbs or VERBS:
        faults, codes = interrupt_often(verb, given.times, random.Random(given.seed), number)
        wrong += len(faults)
        print(f"{verb:11} {given.times} times: {dict(sorted(codes.items()))}, {len(faults)} faults", flush=True)
        for fault in faults:
            print(f"    {fault}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
