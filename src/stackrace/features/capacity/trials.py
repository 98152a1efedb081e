"""The trials of a search for a server's capacity: a closed loop, then open loops at rates ever closer to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...api.load.measure import LoadSetup, Watcher, measure, open_connections, refuse_too_much
from ...base.errors import InterruptedRace, RefusedError
from ...base.verdict import Effect, Finding
from ...measure.engine.engine import arrivals, threads_of
from ...measure.engine.histogram import distribution
from ...measure.engine.load_run import FinishedRun, Goal, Miss, Missed
from ...measure.load import Load
from ...report.words.load_sentences import failures
from ...stats.summary import BEYOND
from ...validity.generator import overload
from .arrivals import DRAWS, Queue, typical_seed
from .rate_search import HIGH, LOW, Search, Tried

CLOSED_S, CLOSED_WARMUP_S = 3.0, 1.0
_FEW = 0.05
"""Requests that may time out in the closed loop, as a share of its right answers."""
LEAST_S = 10.0
"""Shortest trial in seconds; a trial is longer if its quantiles need more requests."""
MOST_S = 25.0
"""Longest trial in seconds, except for a page that is slow itself."""
LONGER = 2
"""Factor by which trials near the capacity are longer."""
_ANSWERS, _LEAST_ANSWERS = 50, 20
"""Number of answers, one after the other, for which a trial should have time, and for which it always has."""
_UNSURE = 1.02
"""Error of a closed loop's throughput, as a factor."""
WARMUP = 0.2
"""Length of the warm-up as a share of the trial: queues grow to their usual length."""
WARMUP_S = 0.5

_IDLE_REQUESTS = 5
_AT_REST, _AT_REST_S = 2.0, 0.005
"""A server is at rest if a single request takes at most this factor times its time at first, plus these seconds."""
_MOST_ASKED = 10

_TRIES = 3
"""Number of times to try a rate that misses the goal while something disturbs the trial."""

_OVERLOAD = overload.declaration.id
"""Id of the check whose finding is an answer here, not a doubt: the server does not keep up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One open loop."""

    ran: FinishedRun
    missed: tuple[Miss, ...]
    """Ways in which the trial missed the goal; empty if it kept the goal."""

    @property
    def rate_per_s(self) -> float:
        """The rate at which requests fell due."""
        return self.ran.load.rate_per_s or 0.0

    @property
    def disturbed(self) -> tuple[Finding, ...]:
        """Findings for which a race would refuse the trial, except that the server does not keep up."""
        return tuple(
            finding
            for finding in self.ran.verdict.findings
            if finding.effect is not Effect.WARNS and finding.check != _OVERLOAD
        )

    @property
    def doubtful(self) -> bool:
        """True if the trial missed the goal, perhaps only because something disturbed it."""
        return bool(self.missed and self.disturbed)

    @property
    def piled_up(self) -> bool:
        """True for a trial in which requests piled up: its latencies depend on its length."""
        return any(miss.what in (Missed.KEEPING_UP, Missed.UNSENT) for miss in self.missed)

    def tried(self, goal: Goal) -> Tried:
        """Return the trial for the search. If it missed more than latencies, all its requests count as slow."""
        is_slow = any(miss.what is not Missed.LATENCY for miss in self.missed)
        buckets = distribution(self.ran.result.histogram)
        total = sum(bucket.count for bucket in buckets)
        slow = {
            name: 1.0 if is_slow or not total else _above(limit_s, self.ran) / total
            for name, limit_s in goal.limits_s.items()
        }
        return Tried(rate_per_s=self.rate_per_s, kept=not self.missed, slow=slow)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityResult:
    """Result of a search for the capacity."""

    goal: Goal
    closed: FinishedRun
    """The closed loop, which shows how much the server can take."""
    idle_s: float
    """Time of a single request to the idle server, in seconds."""
    trials: tuple[Trial, ...]
    """Trials in the order in which they were made."""
    search: Search
    """State of the search after all trials."""
    notes: tuple[str, ...]
    """Notes for the user, one sentence each."""
    interrupted: bool = False

    @property
    def above(self) -> Trial | None:
        """The last trial at the lowest rate that missed the goal; None if none did."""
        return self._at(self.search.lowest_missed)

    @property
    def best(self) -> Trial | None:
        """The last trial at the highest rate that kept the goal; None if none did."""
        return self._at(self.search.highest_kept)

    @property
    def is_least(self) -> bool:
        """True if the capacity may be higher: no rate missed the goal, or only one that something disturbed."""
        return self.above is None or self.above.doubtful

    def _at(self, rate_per_s: float | None) -> Trial | None:
        return next((trial for trial in reversed(self.trials) if trial.rate_per_s == rate_per_s), None)


_Watch = Callable[[Load, float, Search | None], Watcher]
"""Function that returns the watcher of a load, from the seconds of warm-up and the search (None: the closed
loop)."""


def find_capacity(setup: LoadSetup, goal: Goal, *, connections: int, seed: int, watch: _Watch) -> CapacityResult:
    """Search for the highest rate that keeps ``goal``; Ctrl-C ends the search early.

    Raises InputError before anything is sent, RefusedError or InterruptedRace if no rate could be tried.
    """
    closed, opened = _loads(setup, connections)
    notes = tuple(
        dict.fromkeys([*setup.target.notes, *_warnings_about(setup, closed), *_warnings_about(setup, opened)])
    )
    idle = _Idle(setup, closed)
    if closed.duration_s is not None:
        closed = replace(closed, duration_s=closed_s(idle.takes_s))
    first = _closed_loop(setup, closed, idle, watch)
    if not first.result.counts.ok:
        raise RefusedError(f"there was no right answer: {'; '.join(failures(first))}")
    if (fewer := first.load.concurrency) < connections:
        notes += (f"With more connections requests timed out, so the closed loop had {fewer}.",)
    return _Searching(
        setup=setup, goal=goal, first=first, idle=idle, opened=replace(opened, seed=seed), watch=watch, notes=notes
    ).result()


def _closed_loop(setup: LoadSetup, load: Load, idle: _Idle, watch: _Watch) -> FinishedRun:
    """Return the closed loop of ``load``, with half of its connections, or half again, if many requests time out.

    A server goes on with requests whose clients have gone, so it would show a lower throughput than it can reach.
    """
    while True:
        ran = measure(setup, load, watch(load, CLOSED_WARMUP_S, None), warmup_s=CLOSED_WARMUP_S)
        if ran.interrupted:
            raise InterruptedRace("stopped before the first rate was tried")
        if load.concurrency == 1 or ran.result.counts.timed_out <= _FEW * ran.result.counts.ok:
            return ran
        load = replace(load, concurrency=load.concurrency // 2)
        idle.rest()


def _loads(setup: LoadSetup, connections: int) -> tuple[Load, Load]:
    """Return the closed loop, and an open loop of one request per second from which all trials are made."""
    most = open_connections(setup.over_tcp)
    asked = setup.options.load(most)
    opened = replace(asked, concurrency=most, duration_s=None, requests=1, rate_per_s=1.0, poisson=True)
    return replace(asked, concurrency=connections, duration_s=CLOSED_S), opened


def _warnings_about(setup: LoadSetup, load: Load) -> tuple[str, ...]:
    return refuse_too_much(load, setup.cores, over_tcp=setup.over_tcp)


def _above(limit_s: float, ran: FinishedRun) -> int:
    """Return how many requests took longer than ``limit_s``; a bucket is 0.1 % wide."""
    return sum(bucket.count for bucket in distribution(ran.result.histogram) if bucket.value_s > limit_s * 1.001)


class _Silent:
    """Watcher that shows nothing, for loads that are over at once."""

    def calibrating(self) -> None:
        """See `Watcher`."""

    def connecting(self, opened: int, connections: int) -> None:
        """See `Watcher`."""

    def draw(self, ok: int, errors: int, elapsed_s: float) -> None:
        """See `Watcher`."""

    def clear(self) -> None:
        """See `Watcher`."""


class _Idle:
    """A server that gets no other requests than the single ones sent here."""

    def __init__(self, setup: LoadSetup, closed: Load) -> None:
        self._setup = replace(setup, options=replace(setup.options, no_ceiling=True))
        self._load = replace(closed, concurrency=1, duration_s=None, requests=1, silent=0, idle=0)
        self.takes_s = self._took_s(_IDLE_REQUESTS)
        """Median time of a single request, in seconds."""

    def _took_s(self, requests: int) -> float:
        ran = measure(self._setup, replace(self._load, requests=requests), _Silent())
        if ran.interrupted:
            raise InterruptedRace("stopped before the first rate was tried")
        return ran.result.latency.p50

    def rest(self) -> None:
        """Wait until the server has answered all requests that an earlier trial left in queues.

        A single request waits behind them, so it shows when they are done. Only a few are sent: on a busy machine,
        perhaps none is as fast as the first.
        """
        for _ in range(_MOST_ASKED):
            if max(self._took_s(1), self._took_s(1)) <= _AT_REST * self.takes_s + _AT_REST_S:
                return


@dataclass(slots=True, kw_only=True)
class _Searching:
    """A search that is running."""

    setup: LoadSetup
    goal: Goal
    first: FinishedRun
    idle: _Idle
    opened: Load
    watch: _Watch
    notes: tuple[str, ...]
    trials: list[Trial] = field(default_factory=list)

    def result(self) -> CapacityResult:
        """Make one trial after the other, and return the result of the search."""
        reached = self.first.result.throughput_per_s
        allowed = {name: 1 - q for name, q in zip(self.goal.limits_s, self.goal.quantiles, strict=True)}
        most = most_of(self.first, self.idle.takes_s)
        search = Search(low=LOW * reached, high=min(HIGH * reached, most), allowed=allowed, most=most)
        is_over = False
        while not is_over and (rate := search.next_rate) is not None:
            try:
                is_over = not self._tried(self._load(search, rate), search)
            except InterruptedRace:
                is_over = True
            if not is_over:
                search = search.after(self.trials[-1].tried(self.goal))
        return CapacityResult(
            goal=self.goal,
            closed=self.first,
            idle_s=self.idle.takes_s,
            trials=tuple(self.trials),
            search=search,
            notes=self.notes,
            interrupted=is_over,
        )

    def _load(self, search: Search, rate: float) -> Load:
        """Return the load of one trial; each has arrivals of its own, typical of the rate."""
        lasts_s = trial_s(rate, self.goal.quantiles, self.idle.takes_s, is_close=search.is_close)
        load = replace(self.opened, rate_per_s=rate, requests=math.ceil(lasts_s * rate))
        first = self.opened.seed + DRAWS * len(self.trials)
        seeds = [number % 2**64 for number in range(first, first + DRAWS)]
        warmup_s = _warmup_s(load)
        threads = threads_of(load, self.setup.cores.generator_cores, self.setup.options.threads)
        seed = typical_seed(
            Queue.measured(idle_s=self.idle.takes_s, reached_per_s=self.first.result.throughput_per_s),
            seeds,
            lambda seed: arrivals(replace(load, seed=seed), warmup_s=warmup_s, threads=threads),
            rate_per_s=rate,
            warmup_s=warmup_s,
            limits_s=self.goal.limits_s,
            allowed=search.allowed,
        )
        return replace(load, seed=seed)

    def _tried(self, load: Load, search: Search) -> bool:
        """Make one trial, again if it missed the goal while disturbed; return False if it was interrupted."""
        for _ in range(_TRIES):
            self.idle.rest()
            warmup_s = _warmup_s(load)
            ran = measure(self.setup, load, self.watch(load, warmup_s, search), warmup_s=warmup_s)
            self.trials.append(Trial(ran=ran, missed=tuple(_misses(self.goal, ran))))
            if ran.interrupted or not self.trials[-1].doubtful:
                break
        return not self.trials[-1].ran.interrupted


def _warmup_s(load: Load) -> float:
    return max(WARMUP_S, WARMUP * (load.requests or 1) / (load.rate_per_s or 1.0))


def most_of(closed: FinishedRun, idle_s: float) -> float:
    """Return the rate that the server cannot exceed, per second, from the result of the closed loop.

    Infinite if requests did not wait for each other, or if the server also worked on requests that were given up.
    """
    ran = closed.result
    if ran.latency.p50 < 1.5 * idle_s + _AT_REST_S or ran.counts.errors:
        return math.inf
    return highest(ran.throughput_per_s, idle_s, ran.duration_s)


def highest(reached: float, idle_s: float, lasted_s: float) -> float:
    """Return the highest rate of a saturated server, per second, that ``reached`` a rate in ``lasted_s`` seconds.

    Each process may have been working on one more answer.
    """
    return reached * (1 + idle_s / lasted_s) * _UNSURE


def closed_s(idle_s: float) -> float:
    """Return the length of the closed loop in seconds, for a page that takes ``idle_s`` alone."""
    return min(max(CLOSED_S, _ANSWERS * idle_s), MOST_S)


def trial_s(rate: float, quantiles: Sequence[float], idle_s: float, *, is_close: bool) -> float:
    """Return the length of a trial at ``rate`` in seconds, for a page that takes ``idle_s`` alone.

    Trials last longer once the search ``is_close``.
    """
    longer = LONGER if is_close else 1
    wanted_s = max(LEAST_S * longer, requests_for(quantiles) / rate, _ANSWERS * longer * idle_s)
    return min(wanted_s, max(MOST_S * longer, _LEAST_ANSWERS * idle_s))


def requests_for(quantiles: Sequence[float]) -> int:
    """Return the number of requests that a trial needs for all ``quantiles``, each in [0, 1).

    N(1 − q) ≥ 50 of the highest one: see `stats.summary.enough`.
    """
    return math.ceil(BEYOND / (1 - max(quantiles)) - 1e-9)


def _misses(goal: Goal, ran: FinishedRun) -> Iterator[Miss]:
    yield from goal.misses(ran.result)
    yield from (Miss(what=Missed.KEEPING_UP) for finding in ran.verdict.findings if finding.check == _OVERLOAD)
