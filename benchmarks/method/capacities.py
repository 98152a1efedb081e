"""The search for a capacity on simulated queues of known capacity: ``python -m benchmarks.method.capacities``.

First come, first served by 1 to 64 workers; service times are fixed or exponential. Source: Harchol-Balter,
Performance Modeling and Design of Computer Systems, 2013, chapters 14 and 23.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stackrace.features.capacity.rate_search import HIGH, LOW, Search, Tried
from stackrace.features.capacity.trials import WARMUP, closed_s, highest, trial_s

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

    def latencies(self, dice: np.random.Generator, rate: float, requests: int) -> _Times:
        """Return how long each of so many random arrivals takes, as many as the rate says."""
        gaps = np.cumsum(dice.exponential(size=requests + 1))
        times = gaps[:-1] / gaps[-1] * requests / rate
        takes = np.full(requests, self.service_s) if self.is_fixed else dice.exponential(self.service_s, requests)
        free, latencies = [0.0] * self.workers, np.empty(requests)
        for number, (due, service) in enumerate(zip(times, takes, strict=True)):
            done = max(heapq.heappop(free), due) + service
            heapq.heappush(free, done)
            latencies[number] = done - due
        return latencies

    def capacity(self) -> float:
        """Return the rate at which the goal is just kept, by bisection of long runs."""
        low, high = 0.02, 1.0
        for _ in range(12):
            middle = (low + high) / 2
            long = self.latencies(np.random.default_rng(1), middle * self.workers / self.service_s, 400_000)
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
    most = highest(reached, queue.service_s, closed_s(queue.service_s))
    name, allowed, took_s = "limit", 1 - queue.quantile, closed_s(queue.service_s)
    search = Search(low=LOW * reached, high=min(HIGH * reached, most), allowed={name: allowed}, most=most)
    while (rate := search.next_rate) is not None:
        requests = math.ceil(trial_s(rate, [queue.quantile], queue.service_s) * rate)
        before = int(requests * WARMUP)
        latencies = queue.latencies(dice, rate, requests + before)[before:]
        slow = float((latencies > queue.limit_s).mean())
        search = search.after(Tried(rate_per_s=rate, kept=slow <= allowed, slow={name: slow}))
        took_s += (requests + before) / rate
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
        kind = "fixed" if queue.is_fixed else "exponential"
        goal = f"p{queue.quantile * 100:g} <= {queue.limit_s:g} s"
        yield (
            f"{queue.service_s:g} s {kind}, {queue.workers} workers, {goal}: "
            f"truth {truth:.4g}/s, bias {np.mean(errors):+.3f}, sd {np.std(errors):.3f}, within 5 % {near}, "
            f"limits held it {covered} of {SEARCHES}, {took_s:.0f} s each"
        )
    total = SEARCHES * len(QUEUES)
    yield f"within 5 %: {within / total:.0%} of {total} searches; limits held the truth in {held / total:.0%}"


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
