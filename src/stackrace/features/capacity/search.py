"""The search for a server's capacity: a closed loop, then one open loop after another, by bisection."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ...api.load.measure import LoadSetup, Watcher, measure, open_connections, refuse_too_much
from ...base.errors import InterruptedRace, RefusedError
from ...base.verdict import Effect, Finding
from ...measure.engine.load_run import FinishedRun, Goal, Miss, Missed
from ...measure.load import Load
from ...report.words.load_run import failures
from ...stats.summary import BEYOND
from ...validity.generator import overload

LOW, HIGH = 0.3, 1.05
"""Where to look, relative to what a closed loop reached."""

_RESOLUTION = 0.02
"""The search is over when the lowest rate that missed the goal is so little above the highest that kept it."""


@dataclass(frozen=True, slots=True)
class Search:
    """Between which rates the capacity lies, after every trial made so far.

    The next rate halves ln(rate) between the highest rate that kept the goal and the lowest that missed it, since
    what matters of a capacity is its relative error. An end is only tried where all trials lie on one side of it.

    Source: bisection of ln λ, as of any monotone function: Burden & Faires, Numerical Analysis, section 2.1.
    """

    low: float
    """The lowest rate to try, > 0 per second."""
    high: float
    """The highest rate to try, per second."""
    kept: frozenset[float] = frozenset()
    """Rates that kept the goal."""
    missed: frozenset[float] = frozenset()
    """Rates that did not."""

    @property
    def capacity(self) -> float | None:
        """The highest rate that kept the goal; None while none did."""
        return max(self.kept, default=None)

    @property
    def above(self) -> float | None:
        """The lowest rate that missed it; None while none did."""
        return min(self.missed, default=None)

    @property
    def next_rate(self) -> float | None:
        """The rate to try next; None when the capacity is known well enough, or lies outside of low and high."""
        low, high = self.capacity or self.low, self.above or self.high
        if low >= high:
            return None
        if high / low > 1 + _RESOLUTION:
            return math.sqrt(low * high)
        if self.capacity is None:
            return self.low
        return self.high if self.above is None else None

    @property
    def most_trials(self) -> int:
        """How many more trials there may be at most: the halvings that are left, and one of an end."""
        width = math.log((self.above or self.high) / (self.capacity or self.low))
        halvings = max(math.ceil(math.log2(width / math.log1p(_RESOLUTION))), 0) if width > 0 else 0
        return halvings + int(self.next_rate is not None and (not self.kept or not self.missed))

    def tried(self, rate: float, *, kept: bool) -> Search:
        """Return the search after a trial at ``rate``."""
        return replace(self, kept=self.kept | {rate}) if kept else replace(self, missed=self.missed | {rate})


def _requests_for(quantiles: Iterable[float]) -> int:
    """Return how many requests a trial takes to tell all ``quantiles`` (each in [0, 1)) by itself.

    N(1 − q) ≥ 50 of the highest one: see `stats.percentiles`.
    """
    return math.ceil(BEYOND / (1 - max(quantiles)) - 1e-9)


CLOSED_S, CLOSED_WARMUP_S = 3.0, 1.0
LEAST_S = 3.0
"""Every trial lasts so long at least, and as long as its quantiles take requests."""

WARMUP_S = 0.5
REST_S = 0.5
"""Between two trials, so that a server can finish what nobody waits for any more."""

_TRIES = 3
"""A rate that missed the goal while something disturbed the run is tried so often."""

_OVERLOAD = overload.declaration.id
"""The finding that is an answer here: the server does not keep up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One open loop."""

    ran: FinishedRun
    missed: tuple[Miss, ...]
    """How it missed the goal; empty where it kept it."""

    @property
    def rate_per_s(self) -> float:
        """The rate at which requests fell due."""
        return self.ran.load.rate_per_s or 0.0

    @property
    def disturbed(self) -> tuple[Finding, ...]:
        """Findings that a race would refuse it for, beside that the server does not keep up."""
        return tuple(
            finding
            for finding in self.ran.verdict.findings
            if finding.effect is not Effect.WARNS and finding.check != _OVERLOAD
        )

    @property
    def doubtful(self) -> bool:
        """Whether it may have missed the goal for another reason than the server; what was kept was kept."""
        return bool(self.missed and self.disturbed)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityResult:
    """The search at its end."""

    goal: Goal
    closed: FinishedRun
    """The closed loop, which shows how much the server can take."""
    trials: tuple[Trial, ...]
    """In the order in which they were made."""
    search: Search
    """What the trials say."""
    notes: tuple[str, ...]
    """Worth telling the user, one sentence each."""
    interrupted: bool = False

    @property
    def above(self) -> Trial | None:
        """The last trial at the lowest rate that missed the goal."""
        return next((trial for trial in reversed(self.trials) if trial.rate_per_s == self.search.above), None)

    @property
    def best(self) -> Trial | None:
        """The trial at the highest rate that kept it."""
        return next((trial for trial in reversed(self.trials) if trial.rate_per_s == self.search.capacity), None)


_Watch = Callable[[Load, float, Search | None], Watcher]
"""Returns who watches a load with so many seconds of warm-up; with the search, once the closed loop is over."""


def find_capacity(setup: LoadSetup, goal: Goal, *, connections: int, seed: int, watch: _Watch) -> CapacityResult:
    """Search for the highest rate that keeps ``goal``; Ctrl-C ends the search early.

    Raises InputError before anything is sent, RefusedError and InterruptedRace where no rate was tried.
    """
    closed, opened = _loads(setup, connections, seed)
    notes = tuple(dict.fromkeys([*setup.target.notes, *_allowed(setup, closed), *_allowed(setup, opened)]))
    first = measure(setup, closed, watch(closed, CLOSED_WARMUP_S, None), warmup_s=CLOSED_WARMUP_S)
    if first.interrupted:
        raise InterruptedRace("stopped before the first rate was tried")
    if not first.result.counts.ok:
        raise RefusedError(f"there was no right answer: {'; '.join(failures(first))}")
    return _searched(setup, goal, first, opened, notes, watch)


def _loads(setup: LoadSetup, connections: int, seed: int) -> tuple[Load, Load]:
    """Return the closed loop, and the open one of a single request a second, from which all trials are made."""
    most = open_connections(setup.over_tcp)
    asked = setup.options.load(most)
    opened = replace(asked, concurrency=most, duration_s=None, requests=1, rate_per_s=1.0, poisson=True, seed=seed)
    return replace(asked, concurrency=connections, duration_s=CLOSED_S), opened


def _allowed(setup: LoadSetup, load: Load) -> tuple[str, ...]:
    return refuse_too_much(load, setup.cores, over_tcp=setup.over_tcp)


def _searched(
    setup: LoadSetup, goal: Goal, first: FinishedRun, opened: Load, notes: tuple[str, ...], watch: _Watch
) -> CapacityResult:
    reached, least = first.result.throughput_per_s, _requests_for(goal.quantiles)
    search = Search(LOW * reached, HIGH * reached)
    trials: list[Trial] = []
    while not _stopped(trials) and (rate := search.next_rate) is not None:
        load = replace(opened, rate_per_s=rate, requests=max(least, math.ceil(LEAST_S * rate)))
        for _ in range(_TRIES):
            trials.append(_trial(setup, goal, load, watch(load, WARMUP_S, search)))
            if _stopped(trials) or not trials[-1].doubtful:
                break
        if not _stopped(trials):
            search = search.tried(rate, kept=not trials[-1].missed)
    return CapacityResult(
        goal=goal,
        closed=first,
        trials=tuple(trials),
        search=search,
        notes=notes,
        interrupted=_stopped(trials),
    )


def _stopped(trials: Sequence[Trial]) -> bool:
    return bool(trials) and trials[-1].ran.interrupted


def _trial(setup: LoadSetup, goal: Goal, load: Load, watcher: Watcher) -> Trial:
    time.sleep(REST_S)
    ran = measure(setup, load, watcher, warmup_s=WARMUP_S)
    piled_up = (Miss(what=Missed.KEEPING_UP) for finding in ran.verdict.findings if finding.check == _OVERLOAD)
    return Trial(ran=ran, missed=(*goal.misses(ran.result), *piled_up))
