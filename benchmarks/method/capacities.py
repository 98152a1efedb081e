"""The search for a capacity on queues of known capacity.

    python -m benchmarks.method.capacities                    simulated, in five minutes
    python -m benchmarks.method.capacities --started 20       that many servers, really started: some 90 minutes
    python -m benchmarks.method.capacities --started 3 --first 5

First come, first served by 1 to 64 workers; service times are fixed or exponential. Source: Harchol-Balter,
Performance Modeling and Design of Computer Systems, 2013, chapters 14 and 23.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stackrace.features.capacity import arrivals
from stackrace.features.capacity.rate_search import HIGH, LOW, Search, Tried
from stackrace.features.capacity.trials import WARMUP, WARMUP_S, closed_s, highest, trial_s
from stackrace.measure.engine import engine
from stackrace.measure.load import Load

from . import queue_server

SEARCHES = 12
_Times = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Queue:
    """A server and its goal."""

    service_s: float
    workers: int
    is_fixed: bool
    """Whether every request takes as long; exponential otherwise."""
    quantile: float
    limit_s: float

    def latencies(self, dice: np.random.Generator, times: Sequence[float]) -> _Times:
        """Return how long each request takes that is due at ``times``, in order."""
        requests = len(times)
        takes = np.full(requests, self.service_s) if self.is_fixed else dice.exponential(self.service_s, requests)
        free, latencies = [0.0] * self.workers, np.empty(requests)
        for number, (due, service) in enumerate(zip(times, takes, strict=True)):
            done = max(heapq.heappop(free), due) + service
            heapq.heappush(free, done)
            latencies[number] = done - due
        return latencies

    def words(self) -> str:
        """Return the server and its goal for a table."""
        kind, workers = "fixed" if self.is_fixed else "exponential", f"{self.workers} workers"
        return f"{self.service_s:g} s {kind}, {workers}, p{self.quantile * 100:g} <= {self.limit_s:g} s"

    def capacity(self) -> float:
        """Return the rate at which the goal is just kept, by bisection of long runs."""
        low, high = 0.02, 1.0
        for _ in range(12):
            middle = (low + high) / 2
            long_dice = np.random.default_rng(1)
            gaps = long_dice.exponential(self.service_s / (middle * self.workers), 400_000)
            long = self.latencies(long_dice, np.cumsum(gaps).tolist())
            if np.quantile(long[20_000:], self.quantile) <= self.limit_s:
                low = middle
            else:
                high = middle
        return low * self.workers / self.service_s


QUEUES = (
    Queue(0.3, 1, True, 0.5, 1.0), Queue(0.3, 1, False, 0.5, 1.0), Queue(0.3, 1, True, 0.9, 1.0),
    Queue(0.3, 1, True, 0.99, 2.0), Queue(0.1, 1, True, 0.9, 0.5), Queue(0.1, 4, False, 0.9, 0.4),
    Queue(0.05, 2, False, 0.5, 0.2), Queue(0.05, 8, True, 0.99, 0.12), Queue(0.02, 16, False, 0.99, 0.15),
    Queue(0.2, 64, True, 0.5, 0.25), Queue(0.2, 64, False, 0.9, 0.6), Queue(0.005, 1, True, 0.5, 0.05),
    Queue(0.005, 1, False, 0.99, 0.1),
)  # fmt: skip


def searched(queue: Queue, seed: int) -> tuple[Search, float]:
    """Return a search at its end, and how many seconds its trials took."""
    dice = np.random.default_rng(seed)
    reached = queue.workers / queue.service_s * float(np.exp(dice.normal(0, 0.01)))
    idle_s = queue.service_s if queue.is_fixed else float(np.median(dice.exponential(queue.service_s, 5)))
    seen = arrivals.Queue.seen(idle_s=idle_s, reached_per_s=reached)
    most = highest(reached, idle_s, closed_s(idle_s))
    limits_s, allowed, took_s = {"limit": queue.limit_s}, {"limit": 1 - queue.quantile}, closed_s(idle_s)
    search = Search(low=LOW * reached, high=min(HIGH * reached, most), allowed=allowed, most=most)
    while (rate := search.next_rate) is not None:
        lasts_s = trial_s(rate, [queue.quantile], idle_s, is_close=search.is_close)
        load = Load(concurrency=1000, rate_per_s=rate, requests=math.ceil(lasts_s * rate), poisson=True)
        warmup_s = max(WARMUP_S, WARMUP * lasts_s)

        def drawn(seed: int, load: Load = load, warmup_s: float = warmup_s) -> list[float]:
            return engine.arrivals(replace(load, seed=seed), warmup_s=warmup_s, threads=1)

        seeds = [int(each) for each in dice.integers(2**63, size=arrivals.DRAWS)]
        chosen = arrivals.typical_seed(
            seen, seeds, drawn, rate_per_s=rate, warmup_s=warmup_s, limits_s=limits_s, allowed=allowed
        )
        times = np.asarray(drawn(chosen))
        latencies = queue.latencies(dice, times.tolist())[times >= warmup_s]
        slow = float((latencies > queue.limit_s).mean())
        search = search.after(Tried(rate_per_s=rate, kept=slow <= allowed["limit"], slow={"limit": slow}))
        took_s += warmup_s + lasts_s
    return search, took_s


def rows() -> Iterator[str]:
    """Yield a line for each queue, and one for all."""
    within = held = 0
    for queue in QUEUES:
        truth, errors, covered, took_s = queue.capacity(), [], 0, 0.0
        for seed in range(SEARCHES):
            search, seconds = searched(queue, 100 + seed)
            found = search.capacity
            assert found is not None
            errors.append(math.log(found.value / truth))
            covered += found.low is None or found.high is None or found.low <= truth <= found.high
            took_s += seconds / SEARCHES
        near = sum(abs(error) <= math.log(1.05) for error in errors)
        within, held = within + near, held + covered
        yield (
            f"{queue.words()}: truth {truth:.4g}/s, bias {np.mean(errors):+.3f}, sd {np.std(errors):.3f}, "
            f"within 5 % {near}, limits held it {covered} of {SEARCHES}, {took_s:.0f} s each"
        )
    total = SEARCHES * len(QUEUES)
    yield f"within 5 %: {within / total:.0%} of {total} searches; limits held the truth in {held / total:.0%}"


STARTED = (
    *((queue, 0, 0) for queue in QUEUES),
    (Queue(0.01, 1, False, 0.9, 0.1), 0, 0), (Queue(0.01, 2, True, 0.99, 0.05), 4, 0),
    (Queue(0.03, 4, True, 0.9, 0.06), 0, 200), (Queue(0.05, 16, False, 0.5, 0.06), 4, 100),
    (Queue(0.1, 32, True, 0.99, 0.15), 0, 50), (Queue(0.15, 64, False, 0.5, 0.2), 8, 0),
    (Queue(0.02, 8, False, 0.9, 0.08), 2, 20),
)  # fmt: skip
"""Queues that are really started, each with so many silent and idle connections beside the load."""


def started_rows(first: int, servers: int) -> Iterator[str]:
    """Yield a line for each started server, and one for all."""
    within = 0
    for queue, silent, idle in STARTED[first : first + servers]:
        with queue_server.started(queue.service_s, queue.workers, is_fixed=queue.is_fixed) as port:
            begun_s = time.monotonic()
            goal = f"--p{queue.quantile * 100:g}".replace(".", "")
            command = [
                sys.executable, "-m", "stackrace", "capacity", f"http://127.0.0.1:{port}/",
                goal, f"{queue.limit_s:g}s", "--silent", str(silent), "--idle", str(idle), "--json",
            ]  # fmt: skip
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            found = json.loads(ended.stdout)
            took_s = time.monotonic() - begun_s
        truth, value = queue.capacity(), found["capacity_per_s"] or 0.0
        near = abs(math.log(max(value, 1e-9) / truth)) <= math.log(1.05)
        within += near
        yield (
            f"{queue.words()}, {silent} silent, {idle} idle: truth {truth:.4g}/s, found {value:.4g}/s "
            f"({found['low_per_s'] or 0:.4g} to {found['high_per_s'] or 0:.4g}), {value / truth - 1:+.1%}, "
            f"{'at least, ' if found['at_least'] else ''}{took_s:.0f} s{'' if near else ': MORE THAN 5 %'}"
        )
    yield f"within 5 %: {within} of {min(servers, len(STARTED) - first)} servers"


def main() -> None:
    """Print a line for each queue."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--started", type=int, metavar="N", default=0, help="search on N servers, really started")
    parser.add_argument("--first", type=int, metavar="I", default=0, help="from the one with this index on")
    given = parser.parse_args()
    for row in started_rows(given.first, given.started) if given.started else rows():
        print(row, flush=True)


if __name__ == "__main__":
    main()
