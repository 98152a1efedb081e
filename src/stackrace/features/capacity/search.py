"""The search for a server's capacity: a closed loop, then open loops at rates ever closer to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...api.load.measure import LoadSetup, Watcher, measure, open_connections, refuse_too_much
from ...base.errors import InterruptedRace, RefusedError
from ...base.numbers import Interval
from ...base.verdict import Effect, Finding
from ...measure.engine.histogram import distribution
from ...measure.engine.load_run import FinishedRun, Goal, Miss, Missed
from ...measure.load import Load
from ...report.words.load_run import failures
from ...stats.summary import BEYOND
from ...validity.generator import overload
from .estimate import crossing

LOW, HIGH = 0.3, 1.05
"""Where to look first, relative to what a closed loop reached."""
_FARTHEST = 64.0
"""How far beyond these ends to look, as a factor; by doubling."""
_BRACKET = 1.2
"""A rate that missed the goal, over one that kept it: closer ones are for the estimate."""
_REFINEMENTS = 6
"""Trials that follow, in turn a little below and above the estimate, which all of them together improve."""
_ASIDE = 0.03
_FAR, _NEAR, _MANY_NEAR = 1.35, 1.12, 4
"""The estimate looks at the trials within this factor; the closer ones alone where there are so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A rate and what came of it."""

    rate_per_s: float
    kept: bool
    slow: Mapping[str, float]
    """By limit, a name of `QUANTILES`: the share of requests that took longer, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Where the capacity lies, after every trial made so far.

    First ln(rate) is halved until a rate that kept the goal and one that missed it are close; what lies outside of
    ``low`` and ``high`` is looked for by doubling. A single trial decides little there, so from then on the rate is
    tried at which the share of slow requests, by all trials together, is what the goal allows.

    Source: Burden & Faires, Numerical Analysis, section 2.1; C. F. J. Wu, JASA 80 (1985), on estimating a quantile
    by trials at its estimate.
    """

    low: float
    """The lowest rate to try first, > 0 per second."""
    high: float
    """The highest rate to try first, per second."""
    allowed: Mapping[str, float]
    """By limit: the share of requests that may take longer, in (0, 1)."""
    most: float = math.inf
    """The rate that the server cannot exceed, as a closed loop has shown; per second."""
    tried: tuple[Tried, ...] = ()
    refined: int = 0
    """How many of them were made at an estimate."""

    @property
    def kept(self) -> float | None:
        """The highest rate that kept the goal; None while none did."""
        return max((one.rate_per_s for one in self.tried if one.kept), default=None)

    @property
    def missed(self) -> float | None:
        """The lowest rate that missed it; None while none did."""
        return min((one.rate_per_s for one in self.tried if not one.kept), default=None)

    @property
    def capacity(self) -> Interval | None:
        """The highest rate that keeps the goal, with its limits once it was closed in; None while none did."""
        if self.kept is None:
            return None
        if self.missed is None or not self._is_close:
            return Interval(value=self.kept)
        around = math.sqrt(self.kept * self.missed)
        each = [self._crossing(name, share, around) for name, share in self.allowed.items()]
        found = min(each, key=lambda one: one.value)
        return Interval(
            value=self._possible(found.value),
            low=found.low and min(found.low, self._possible(found.value)),
            high=found.high and max(min(found.high, self.most), self._possible(found.value)),
        )

    @property
    def next_rate(self) -> float | None:
        """The rate to try next; None when the capacity is known, or lies too far off."""
        if self._is_close:
            if self.missed is None or self.refined == _REFINEMENTS or (now := self.capacity) is None:
                return None
            return now.value * math.exp(_ASIDE if self.refined % 2 else -_ASIDE)
        low, high = self.kept or self.low, self.missed or self.high
        if high / low > _BRACKET:
            return math.sqrt(low * high)
        if self.kept is None:
            lower = self.low if high > self.low else high / 2
            return lower if lower >= self.low / _FARTHEST else None
        higher = min(self.high if low < self.high else 2 * low, self.most)
        return higher if higher <= self.high * _FARTHEST else None

    @property
    def most_trials(self) -> int:
        """How many more trials there may be, unless the capacity lies outside of low and high."""
        if self._is_close:
            return _REFINEMENTS - self.refined if self.missed else 0
        width = math.log((self.missed or self.high) / (self.kept or self.low))
        halvings = max(math.ceil(math.log2(max(width, 1e-9) / math.log(_BRACKET))), 0)
        return halvings + int(not self.kept or not self.missed) + _REFINEMENTS

    def after(self, trial: Tried) -> Search:
        """Return the search after one more trial."""
        return replace(self, tried=(*self.tried, trial), refined=self.refined + self._is_close)

    @property
    def _is_close(self) -> bool:
        if self.kept is not None and self.kept >= self.most:
            return True
        return self.kept is not None and self.missed is not None and self.missed / self.kept <= _BRACKET

    def _possible(self, rate: float) -> float:
        assert self.kept is not None and self.missed is not None
        return min(max(rate, self.kept / _BRACKET), self.missed * _BRACKET, self.most)

    def _crossing(self, name: str, share: float, around: float) -> Interval:
        def within(factor: float, middle: float) -> list[Tried]:
            return [one for one in self.tried if 1 / factor <= one.rate_per_s / middle <= factor]

        def found(used: Sequence[Tried]) -> Interval:
            return crossing([one.rate_per_s for one in used], [one.slow[name] for one in used], share)

        far = within(_FAR, around)
        first = found(far if len(far) > 1 else self.tried)
        near = within(_NEAR, first.value)
        return found(near) if len(near) >= _MANY_NEAR else first


CLOSED_S, CLOSED_WARMUP_S = 3.0, 1.0
LEAST_S = 5.0
"""Every trial lasts so long at least, and as long as its quantiles take requests."""
MOST_S = 30.0
"""It lasts longer only for a page that is slow itself."""
_ANSWERS, _LEAST_ANSWERS = 50, 20
"""A trial is to last as long as so many answers one after the other, and lasts as long as the lesser number."""
_WARMUP = 0.2
"""The share of a trial that comes before it, so that queues are as long as they get."""
WARMUP_S = 0.5

_IDLE_REQUESTS = 5
_AT_REST, _AT_REST_S = 2.0, 0.005
"""A server rests when a request alone takes at most so many times what one took at first, and a little."""
_MOST_ASKED = 10

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

    @property
    def piled_up(self) -> bool:
        """Whether requests piled up, so that its latencies only say how long it was."""
        return any(miss.what in (Missed.KEEPING_UP, Missed.UNSENT) for miss in self.missed)

    def tried(self, goal: Goal) -> Tried:
        """Return what the search goes by: of a trial that missed more than latencies, every request was slow."""
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
    """The search at its end."""

    goal: Goal
    closed: FinishedRun
    """The closed loop, which shows how much the server can take."""
    idle_s: float
    """How long a request alone takes, in seconds."""
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
        return self._at(self.search.missed)

    @property
    def best(self) -> Trial | None:
        """The last trial at the highest rate that kept it."""
        return self._at(self.search.kept)

    @property
    def is_least(self) -> bool:
        """Whether the capacity may be higher: no rate missed the goal, or only one that something disturbed."""
        return self.above is None or self.above.doubtful

    def _at(self, rate_per_s: float | None) -> Trial | None:
        return next((trial for trial in reversed(self.trials) if trial.rate_per_s == rate_per_s), None)


_Watch = Callable[[Load, float, Search | None], Watcher]
"""Returns who watches a load with so many seconds of warm-up; with the search, once the closed loop is over."""


def find_capacity(setup: LoadSetup, goal: Goal, *, connections: int, seed: int, watch: _Watch) -> CapacityResult:
    """Search for the highest rate that keeps ``goal``; Ctrl-C ends the search early.

    Raises InputError before anything is sent, RefusedError and InterruptedRace where no rate was tried.
    """
    closed, opened = _loads(setup, connections)
    notes = tuple(dict.fromkeys([*setup.target.notes, *_allowed(setup, closed), *_allowed(setup, opened)]))
    idle = _Idle(setup, closed)
    closed = _lasting(closed, idle.takes_s)
    first = measure(setup, closed, watch(closed, CLOSED_WARMUP_S, None), warmup_s=CLOSED_WARMUP_S)
    if first.interrupted:
        raise InterruptedRace("stopped before the first rate was tried")
    if not first.result.counts.ok:
        raise RefusedError(f"there was no right answer: {'; '.join(failures(first))}")
    return _Searching(
        setup=setup, goal=goal, first=first, idle=idle, opened=replace(opened, seed=seed), watch=watch, notes=notes
    ).result()


def _loads(setup: LoadSetup, connections: int) -> tuple[Load, Load]:
    """Return the closed loop, and the open one of a single request a second, from which all trials are made."""
    most = open_connections(setup.over_tcp)
    asked = setup.options.load(most)
    opened = replace(asked, concurrency=most, duration_s=None, requests=1, rate_per_s=1.0, poisson=True)
    return replace(asked, concurrency=connections, duration_s=CLOSED_S), opened


def _lasting(closed: Load, idle_s: float) -> Load:
    """Return the closed loop, long enough that one answer more or less of each process hardly matters."""
    if closed.duration_s is None:
        return closed
    return replace(closed, duration_s=min(max(closed.duration_s, answers_s(idle_s)), MOST_S))


def _allowed(setup: LoadSetup, load: Load) -> tuple[str, ...]:
    return refuse_too_much(load, setup.cores, over_tcp=setup.over_tcp)


def _above(limit_s: float, ran: FinishedRun) -> int:
    """Return how many requests took longer than a limit; a bucket is 0.1 % wide."""
    return sum(bucket.count for bucket in distribution(ran.result.histogram) if bucket.value_s > limit_s * 1.001)


class _Silent:
    """Watches what is over at once."""

    def calibrating(self) -> None:
        """See `Watcher`."""

    def connecting(self, opened: int, connections: int) -> None:
        """See `Watcher`."""

    def draw(self, ok: int, errors: int, elapsed_s: float) -> None:
        """See `Watcher`."""

    def clear(self) -> None:
        """See `Watcher`."""


class _Idle:
    """A server that nothing else is asked of."""

    def __init__(self, setup: LoadSetup, closed: Load) -> None:
        self._setup = replace(setup, options=replace(setup.options, no_ceiling=True))
        self._load = replace(closed, concurrency=1, duration_s=None, requests=1)
        self.takes_s = self._took_s(_IDLE_REQUESTS)
        """How long a request takes, in seconds."""

    def _took_s(self, requests: int) -> float:
        ran = measure(self._setup, replace(self._load, requests=requests), _Silent())
        if ran.interrupted:
            raise InterruptedRace("stopped before the first rate was tried")
        return ran.result.latency.p50

    def rest(self) -> None:
        """Wait until what an earlier trial has left in queues is done: one request more waits behind it.

        Few are asked, since on a busy machine none may be as fast as the first.
        """
        for _ in range(_MOST_ASKED):
            if max(self._took_s(1), self._took_s(1)) <= _AT_REST * self.takes_s + _AT_REST_S:
                return


@dataclass(slots=True, kw_only=True)
class _Searching:
    """A search at work."""

    setup: LoadSetup
    goal: Goal
    first: FinishedRun
    idle: _Idle
    opened: Load
    watch: _Watch
    notes: tuple[str, ...]
    trials: list[Trial] = field(default_factory=list)

    def result(self) -> CapacityResult:
        """Make one trial after the other."""
        reached = self.first.result.throughput_per_s
        allowed = {name: 1 - q for name, q in zip(self.goal.limits_s, self.goal.quantiles, strict=True)}
        most = most_of(self.first, self.idle.takes_s)
        search = Search(low=LOW * reached, high=min(HIGH * reached, most), allowed=allowed, most=most)
        is_over = False
        while not is_over and (rate := search.next_rate) is not None:
            try:
                is_over = not self._tried(self._load(rate), search)
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

    def _load(self, rate: float) -> Load:
        """Return the load of one trial; each has arrivals of its own."""
        idle_s, least = self.idle.takes_s, requests_for(self.goal.quantiles)
        wanted_s = max(LEAST_S, least / rate, answers_s(idle_s))
        lasts_s = min(wanted_s, max(MOST_S, _LEAST_ANSWERS * idle_s))
        seed = (self.opened.seed + len(self.trials)) % 2**64
        return replace(self.opened, rate_per_s=rate, requests=math.ceil(lasts_s * rate), seed=seed)

    def _tried(self, load: Load, search: Search) -> bool:
        """Make one trial, again where something disturbed it; tell whether it came to its end."""
        for _ in range(_TRIES):
            self.idle.rest()
            warmup_s = max(WARMUP_S, _WARMUP * (load.requests or 1) / (load.rate_per_s or 1.0))
            ran = measure(self.setup, load, self.watch(load, warmup_s, search), warmup_s=warmup_s)
            self.trials.append(Trial(ran=ran, missed=tuple(_misses(self.goal, ran))))
            if ran.interrupted or not self.trials[-1].doubtful:
                break
        return not self.trials[-1].ran.interrupted


def most_of(closed: FinishedRun, idle_s: float) -> float:
    """Return what the server cannot exceed, per second: what it reached where requests waited for each other.

    At most one answer of each process more would have come in that time. Infinite where nothing waited, or where it
    also worked on requests that were given up.
    """
    ran = closed.result
    if ran.latency.p50 < 1.5 * idle_s + _AT_REST_S or ran.counts.errors:
        return math.inf
    return ran.throughput_per_s * (1 + idle_s / ran.duration_s) * 1.02


def answers_s(idle_s: float) -> float:
    """Return how long a load is to last, in seconds, for a page that takes so long alone."""
    return _ANSWERS * idle_s


def requests_for(quantiles: Sequence[float]) -> int:
    """Return how many requests tell all ``quantiles`` (each in [0, 1)) by themselves.

    N(1 − q) ≥ 50 of the highest one: see `stats.percentiles`.
    """
    return math.ceil(BEYOND / (1 - max(quantiles)) - 1e-9)


def _misses(goal: Goal, ran: FinishedRun) -> Iterator[Miss]:
    yield from goal.misses(ran.result)
    yield from (Miss(what=Missed.KEEPING_UP) for finding in ran.verdict.findings if finding.check == _OVERLOAD)
