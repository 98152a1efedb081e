"""Random arrivals that are typical of their rate: a trial has few arrivals, and chance would decide its result."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DRAWS = 20
"""Number of random draws of arrivals from which one is chosen for a trial."""
_MOST_SIMULATED = 200_000
"""The most arrivals simulated for one trial: with so many, chance matters little."""
_LONG = 20_000
"""Number of arrivals in the long run that shows what is typical."""
_BEGINNING = 0.1
"""Share of the long run that does not count: its queue does not have its usual length yet."""
_ALIKE = 0.05
"""A draw is chosen at once if its shares of slow requests differ from the typical ones by less than this part of
the allowed shares."""
_FULL = 0.995
"""Utilization from which on queues grow with the length of a trial, so that nothing is typical."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Model of a server, from the results of a single request and of a closed loop.

    Requests wait in one queue for ``workers`` that take ``service_s`` seconds each. Real servers differ; the model
    only chooses between draws of arrivals, and any draw gives a valid trial.
    """

    workers: int
    service_s: float

    @staticmethod
    def measured(*, idle_s: float, reached_per_s: float) -> Queue:
        """Return the queue of a server: ``idle_s`` for one request, and ``reached_per_s`` in a closed loop."""
        workers = max(1, round(idle_s * reached_per_s))
        return Queue(workers, workers / reached_per_s)

    def slow(self, due_s: Iterable[float], limits_s: Mapping[str, float], *, begins_s: float) -> dict[str, float]:
        """Return the share of requests above each limit, 0 to 1, among those due at ``begins_s`` or later."""
        free, takes = [0.0] * self.workers, []
        for due in due_s:
            ends = max(free[0], due) + self.service_s
            heapq.heapreplace(free, ends)
            if due >= begins_s:
                takes.append(ends - due)
        latencies = np.asarray(takes)
        return {name: float((latencies > limit).mean()) if takes else 0.0 for name, limit in limits_s.items()}

    def typical(self, rate_per_s: float, limits_s: Mapping[str, float]) -> dict[str, float] | None:
        """Return the share of requests above each limit in the long run; None if the queue would grow."""
        if rate_per_s * self.service_s / self.workers > _FULL:
            return None
        due = np.cumsum(np.random.default_rng(0).exponential(1 / rate_per_s, _LONG))
        return self.slow(due.tolist(), limits_s, begins_s=due[int(_LONG * _BEGINNING)])


def typical_seed(
    queue: Queue,
    seeds: Sequence[int],
    arrivals: Callable[[int], Sequence[float]],
    *,
    rate_per_s: float,
    warmup_s: float,
    limits_s: Mapping[str, float],
    allowed: Mapping[str, float],
) -> int:
    """Return the seed whose arrivals make about as many requests slow as arrivals at this rate do in the long run.

    ``arrivals`` returns the times of a seed's arrivals in seconds, with ``warmup_s`` seconds of warm-up first;
    ``allowed`` is the share of slow requests that each limit allows, in (0, 1). With other seeds, a trial may start
    with an empty queue, or have few bursts, and accept a rate that is too high. If nothing is typical of the rate,
    the first seed is returned.

    Source: stratified sampling of the input, A. B. Owen, Monte Carlo theory, methods and examples, 2013, chapter 8.
    """
    wanted = queue.typical(rate_per_s, limits_s)
    if wanted is None:
        return seeds[0]
    best, least = seeds[0], float("inf")
    simulated = 0
    for seed in seeds:
        due = arrivals(seed)
        simulated += len(due)
        if simulated > _MOST_SIMULATED:
            break
        seen = queue.slow(due, limits_s, begins_s=warmup_s)
        far = max(abs(seen[name] - share) / allowed[name] for name, share in wanted.items())
        if far < least:
            best, least = seed, far
        if least < _ALIKE:
            break
    return best
