"""Requests served at the same time, measured by short loads on the first ready stack of each interface."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...app.examiner.messages import ThreadPool
from ...base.errors import MissingError
from ...base.numbers import things
from ...deploy.launcher import Launcher, LaunchFailed
from ...deploy.machine import REST_LOOK_S, WARM_BIN_S
from ...deploy.preparing import OnPreparing, Preparing, Step
from ...deploy.running_stack import Running, abandoned_by_clients
from ...measure.engine.engine import Monitor, RunningEngine, run
from ...measure.load import Load, LoadResult, answered_per_s
from ...measure.resources import Resources
from ...measure.workload import Burst, PageTime, Workload
from ...stacks.servers import Catalogue
from ...stacks.setting import Interface
from ...stacks.stack import Stack
from ..pacing.pace import at_once
from ..request.request import RaceRequest
from .defaults import levels_of

_CONNECTIONS = (1, 100)
"""Numbers of connections in bursts; more are not worth it, because each burst leaves a queue that delays the
next."""

_ALL_S, _RESPONSES = 1.8, 1.8
"""Longest time of all bursts on a stack: ``_ALL_S`` seconds plus ``_RESPONSES`` response times, if ``_ROUNDS`` for
each burst are no longer. Starting and ending a burst takes 0.05 s more, and the rest after it up to ``_REST_S``."""

_ROUNDS = 2
"""Response times of the app alone for which a burst may always last. The requests of all its connections are
computed in half of its time: a server that computes them side by side has answered none of them earlier."""

_UNANSWERED = 3
"""Times its time that a burst may last if no answer comes."""

_LEAST_BINS = 2
_ENOUGH_ANSWERS = 20
"""Answers that are enough to end a burst after two response times."""

_QUICK_S = 0.005
"""Response time up to which a page needs a single burst, with the most connections: fewer never take longer."""

_SLOW_S = 0.25
"""Response time above which the examination's measurement is good enough: such a page has no burst with one
connection."""

_REST_S = 0.5
"""The most seconds to wait after a burst until the stack holds no request of clients who are gone."""

_IDLE = 0.5
"""Share of CPU time in use, below which the CPU is not the limit."""

_POOLED = 1.3
"""Tolerance for the number of requests served at once by a pool of threads: bursts are short."""

_TRIES = 2
"""The most stacks of an interface to try until one starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bursts:
    """Measurement of bursts, which are short loads, on stacks that ``launcher`` starts."""

    launcher: Launcher
    build: Callable[[Stack], None]
    """Function that builds a stack's environment; raises MissingError if that is impossible."""
    request: RaceRequest
    cores: Resources
    on_preparing: OnPreparing

    def measured(self, workloads: Sequence[Workload], pilots: Iterable[Sequence[Stack]]) -> tuple[Workload, ...]:
        """Return ``workloads`` with the bursts of the first stack of each group of ``pilots`` that starts.

        If interfaces differ, the slower one counts at each number of connections. Workloads with think time are
        skipped: their visitors do not send requests all the time. A stack that does not start is no reason to
        refuse the race.
        """
        asked = [each for each in workloads if not any(request.think_s for request in each.requests)]
        slowest: dict[str, dict[int, Burst]] = {}
        for group in pilots:
            for name, bursts in self._of_first_running(group, asked).items():
                known = slowest.setdefault(name, {})
                for burst in bursts:
                    other = known.get(burst.connections, burst)
                    known[burst.connections] = min(burst, other, key=lambda each: each.per_s)
        return tuple(_with_bursts(each, slowest.get(each.name, {})) for each in workloads)

    def _of_first_running(
        self, group: Sequence[Stack], workloads: Sequence[Workload]
    ) -> Mapping[str, Sequence[Burst]]:
        for stack in group[:_TRIES]:
            names = {each.name for each in self.launcher.workloads_for(stack)}
            met = [each for each in workloads if each.name in names]
            if not met:
                continue
            try:
                self.build(stack)
                self.on_preparing(Preparing(step=Step.BURSTS, subject=stack.path))
                running = self.launcher.launch(stack)
            except (MissingError, LaunchFailed):
                continue
            bursts = self._of_running(running, met)
            # a stack with only wrong answers under a short load says nothing about the others
            if any(bursts.values()):
                return bursts
        return {}

    def _of_running(self, running: Running, workloads: Sequence[Workload]) -> Mapping[str, Sequence[Burst]]:
        """Measure the bursts, and keep the stack for its first launch unless it is still busy with them."""
        is_kept = False
        try:
            # slow pages last: their queues would delay quick ones
            ordered = sorted(workloads, key=lambda each: each.page.wall_s)
            bursts = {each.name: self._bursts_of(running, each, len(workloads)) for each in ordered}
            is_kept = not abandoned_by_clients([running]) and not running.stack.is_alone
        finally:
            if is_kept:
                self.launcher.reusable[running.stack.path] = running
            else:
                self.launcher.discard(running)
        return bursts

    def _bursts_of(self, running: Running, workload: Workload, share: int) -> list[Burst]:
        limit_s = _limit_s(workload.page.wall_s, share)
        most = max(levels_of(self.request))
        connections = _connections_for(workload.page, most, limit_s, len(self.cores.stack_cores))
        bursts = (self._burst(running, workload, each, limit_s) for each in connections)
        return [burst for burst in bursts if burst is not None]

    def _burst(self, running: Running, workload: Workload, connections: int, limit_s: float) -> Burst | None:
        """Return the rate of one burst; None if all answers were wrong."""
        request = self.request
        load = Load(
            concurrency=connections,
            keep_alive=request.keep_alive,
            duration_s=_UNANSWERED * limit_s,
            timeout_s=request.timeout_s,
        )
        workload = self.launcher.known.now(workload)

        def play(monitor: Monitor) -> LoadResult:
            return run(
                address=(running.host, running.port),
                workload=workload,
                load=load,
                cores=self.cores.generator_cores,
                follow_s=0.0,
                monitor=monitor,
            )

        with RunningEngine(play) as engine:
            for counts in engine.bins(WARM_BIN_S):
                if _is_over(counts, limit_s) or _is_enough(counts, connections, workload.page.wall_s):
                    break
            result = engine.finish(0.0)
        until_s = time.monotonic() + _REST_S
        while abandoned_by_clients([running]) and time.monotonic() < until_s:
            time.sleep(REST_LOOK_S)
        if result.counts.errors and not result.counts.ok:
            return None
        promised = running.stack.hops[-1].promised
        per_s = _rate_of(load, result)
        return Burst(stack=running.stack.path, connections=connections, per_s=per_s, promised=promised)


def _has_two(wall_s: float) -> bool:
    return _QUICK_S < wall_s <= _SLOW_S


def _limit_s(wall_s: float, share: int) -> float:
    """Return the longest time of a burst of a page that alone takes ``wall_s``, one of ``share`` workloads."""
    bursts = share * (2 if _has_two(wall_s) else 1)
    return max((_ALL_S + _RESPONSES * wall_s) / bursts, _ROUNDS * wall_s)


def _connections_for(page: PageTime, most: int, limit_s: float, cores: int) -> tuple[int, ...]:
    """Return the numbers of connections, at most ``most``, for the bursts of ``page`` that last ``limit_s``."""
    computed = cores * limit_s / 2 / page.cpu_s if page.cpu_s else most
    fitting = max(int(min(computed, most)), 1)
    wanted = sorted({min(each, fitting) for each in _CONNECTIONS})
    return tuple(wanted) if _has_two(page.wall_s) else (wanted[-1],)


def _is_over(counts: Sequence[int], limit_s: float) -> bool:
    """Return True if a burst has lasted ``limit_s``, and since its first answer as long as until then: servers that
    compute requests side by side answer none of them for long, and then all."""
    first = next((number for number, count in enumerate(counts, 1) if count), None)
    return first is not None and len(counts) >= 2 * first and len(counts) * WARM_BIN_S >= limit_s


def _is_enough(counts: Sequence[int], connections: int, wall_s: float) -> bool:
    """Return True if a burst may end, by its answers in bins of ``WARM_BIN_S``: each connection has one, or there
    are many after two response times."""
    answers, spent_s = sum(counts), len(counts) * WARM_BIN_S
    many = answers >= _ENOUGH_ANSWERS and spent_s >= 2 * wall_s
    return len(counts) >= _LEAST_BINS and (answers >= max(connections, _LEAST_BINS) or many)


def _rate_of(load: Load, result: LoadResult) -> float:
    """Return the right answers per second, up to the last one: a round that has only begun does not count."""
    answered = [span for span in result.series if span.ok]
    if not answered:
        return 1 / max(result.duration_s, WARM_BIN_S)
    if result.counts.ok >= load.concurrency:
        by_rounds = answered_per_s(load, result)
        if by_rounds != result.throughput_per_s:
            return by_rounds
    last = answered[-1]
    # with fewer answers than connections, the last answer's latency is its time of arrival
    until_s = min(last.start_s + WARM_BIN_S, result.duration_s)
    if result.counts.ok < load.concurrency and last.start_s <= last.p99_s <= until_s:
        until_s = last.p99_s
    return result.counts.ok / until_s


def _with_bursts(workload: Workload, bursts: Mapping[int, Burst]) -> Workload:
    page: PageTime = workload.page
    return replace(workload, page=replace(page, bursts=tuple(bursts[each] for each in sorted(bursts))))


def pilots(stacks: Sequence[Stack], catalogue: Catalogue) -> tuple[tuple[Stack, ...], ...]:
    """Return the stacks to try by interface, those with the fewest promised requests at once first.

    Servers without lifespan events come last: an app may open its pool of connections at such an event.
    """
    interfaces: dict[Interface, list[Stack]] = {}
    for stack in stacks:
        interfaces.setdefault(stack.interface, []).append(stack)

    def order(stack: Stack) -> tuple[bool, int]:
        host = stack.hops[-1]
        return not catalogue.entries[host.server].sends_lifespan(host.settings), host.promised

    return tuple(tuple(sorted(group, key=order)) for group in interfaces.values())


def pool_note(pool: ThreadPool | None, workloads: Sequence[Workload], cores: int) -> tuple[str, ...]:
    """Return the note that the framework's thread pool is the limit, if bursts served as many at once."""
    if pool is None:
        return ()
    for workload in workloads:
        page = workload.page
        if not page.bursts:
            continue
        burst = page.bursts[-1]
        served = at_once(page, burst.connections, cores)
        threads = pool.threads * burst.promised
        idle = burst.per_s * page.cpu_s < _IDLE * cores
        if idle and threads < burst.connections and threads / _POOLED <= served <= threads * _POOLED:
            return (
                f"{_page(workload)} in {pool.framework}'s pool of threads, not in its event loop: of "
                f"{burst.connections} requests about {round(served)} were served at once, while the CPU was mostly "
                f"idle. The pool ({things(pool.threads, 'thread')} in each process) is the limit, not the server. "
                "Make the route async def, or give the pool more threads: "
                "anyio.to_thread.current_default_thread_limiter().total_tokens.",
            )
    return ()


def _page(workload: Workload) -> str:
    return f"{workload.requests[0].path} runs" if len(workload.requests) == 1 else "Pages run"
