"""This machine, to race on: launches by the supervisor, load by the engine, measurements by the probe."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from ..base.errors import RefusedError
from ..base.files import size_of
from ..base.http_syntax import is_below
from ..base.process import Background
from ..measure import probe
from ..measure.engine.engine import EngineRun, Play, RunningEngine, ceiling, run
from ..measure.engine.histogram import slow
from ..measure.held_connections import Holder, holding
from ..measure.host import Disturbance
from ..measure.launch import Failure, FailureKind, MemorySample
from ..measure.load import Load
from ..measure.resources import Enforcement, Resources
from ..measure.workload import Workload
from ..stacks.stack import Hop, Stack
from ..validity.observation import Observation
from .confinement import exceeded
from .guard import Guard
from .incident import Incident, LoadedStack
from .launcher import Launcher, LaunchFailed
from .machine import REST_LOOK_S, WARM_BIN_S, Enough, Launched, RaceProcesses, Retired
from .running_stack import Running, abandoned_by_clients, facts_of
from .shutdown import inspect, retired, served
from .sockets import listeners
from .wrong_answers import WrongUnderLoad, fates, name_of

_REST_S = 10.0
"""Longest wait in seconds for stacks that still work on requests left in their queues by the last slice."""
_RESTLESS_S = 1.0
"""Longest wait after a wait in vain: a stack that works without requests will not come to rest."""
_REST_SHARE = 0.1
"""Share of a core below which all stacks together are considered at rest."""
_LOOKS = (0.7, 0.8, 0.9)
"""Parts of the re-warm after which the threads are looked at: the same load, and it disturbs nothing recorded."""
_QUIET_S = 0.25
"""Seconds that the speed canary waits after a slice for busy stacks, which share its cores' caches."""


@dataclass(slots=True, kw_only=True)
class _RunningStack:
    running: Running
    sampler: probe.Sampler
    needs: probe.Sampler | None = None
    """Sampler of its memory and connections under load, if these are wanted."""
    memory: list[MemorySample] = field(default_factory=list)

    def serving(self, host: Hop) -> Sequence[int]:
        """Return the processes of the app's server that run the app.

        A first process that only manages workers may wait at a lock of its own all the time.
        """
        name = list(self.running.hops)[-1]
        every = self.sampler.processes_of(name)
        first = {pid for part, pid in self.running.parts if part.hop == name}
        workers = [pid for pid in every if pid not in first]
        promised = host.processes.least * host.instances if host.processes else 0
        return workers if 0 < promised <= len(workers) else every


class LocalMachine:
    """This machine. ``services`` are the processes of the services beside the stacks, by name.

    ``debug`` is true if the app is in debug mode. ``processes`` is shared with the race's other deployments on
    this machine. ``engine`` makes an engine run: by default one of the engine here.
    """

    def __init__(
        self,
        *,
        guard: Guard,
        launcher: Launcher,
        cores: Resources,
        services: Mapping[str, Sequence[int]],
        debug: bool,
        processes: RaceProcesses | None = None,
        engine: Callable[[Play], EngineRun] = RunningEngine,
    ) -> None:
        self._guard = guard
        self._processes = processes or RaceProcesses()
        self._processes.join(guard.pid, services)
        self._launcher = launcher
        self._begin_load = engine
        self.watches_needs = False
        """True if a stack's memory and connections are sampled once during every load, before it is recorded."""
        self._cores = cores
        self._debug = debug
        # one allowance for all stacks: sampling all of them may cost no more than one
        self._allowance = probe.Allowance()
        self._services = probe.Sampler(services, guard.pid, self._allowance)
        self._service_pids = tuple(services.values())
        self._up: dict[str, _RunningStack] = {}
        self._wrong = WrongUnderLoad()
        self._all_pids_by_stack: dict[str, Sequence[int]] = {}
        self._all = probe.Sampler({}, guard.pid)
        self._restless = False
        self._at_rest = False
        self._ceilings: dict[tuple[int, bool], float] = {}

    def calibrate(self, loads: Sequence[Load]) -> None:
        """Measure the rate that the engine itself reaches at each of ``loads``; unknown if the load is refused."""
        for load in loads:
            with suppress(RefusedError):
                self._ceilings[load.concurrency, load.keep_alive] = ceiling(
                    load, cores=self._cores.generator_cores, server_cores=self._cores.stack_cores
                )

    def room_bytes(self) -> float:
        return probe.available_bytes()

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        patience_s = self._launcher.start_timeout_s
        try:
            running = self._launcher.launch(stack, timeout_s=min(timeout_s, patience_s))
        except LaunchFailed as failed:
            failure = failed.failure
            if timeout_s < patience_s and failure.kind is FailureKind.NOT_READY:
                cut = "; the budget left no more: give more (--budget)"
                failure = replace(failure, message=f"{failure.message}{cut}")
            return Launched(failure=failure)
        sampler = probe.Sampler(running.hops, self._guard.pid, self._allowance)
        self._up[stack.path] = _RunningStack(running=running, sampler=sampler)
        if self.watches_needs:
            # a separate one: another thread uses the first
            needs = self._up[stack.path].needs = probe.Sampler(running.hops, self._guard.pid)
            needs.counts_connections = True
        self._watch_all()
        memory = sampler.sample_memory(running.ready_s)
        return Launched(
            ready_s=running.ready_s,
            facts=facts_of(running, self._launcher.catalogue),
            memory_bytes=sum(memory.pss_bytes.values()),
        )

    def load(
        self,
        stack: Stack,
        workload: Workload,
        load: Load,
        rewarm_s: float,
        limit_s: float = math.inf,
        meanwhile: Incident | None = None,
    ) -> Observation:
        """Observe the recorded part only; after ``limit_s`` the engine's result so far is returned.

        Raises KeyboardInterrupt if the user stops the race meanwhile; the engine is cancelled first.
        """
        self._update_processes()
        up = self._up[stack.path]
        known = self._launcher.known
        workload = known.now(workload)
        ceiling_per_s = self._ceilings.get((load.concurrency, load.keep_alive))
        self._launcher.pin(up.running)
        for pid in chain(*self._service_pids):
            # processes born since then have the usual priority
            self._guard.pin(pid, self._cores.stack_cores)
        canary_before_ns = probe.canary_ns(self._cores.stack_cores)
        self._at_rest = False
        with (
            probe.excluded_cores(() if self._cores.shared else self._cores.stack_cores),
            self._held_connections(up, workload, load) as held,
            probe.MemoryWatch(up.sampler, up.running.started_s) as watch,
            self._load(up, workload, load, warmup_s=rewarm_s, ceiling_per_s=ceiling_per_s) as engine,
        ):
            # slow looks disturb the engine: even reading the wait times of a thousand threads
            engine.wait(engine.begun_s + rewarm_s / 2)
            if up.needs is not None:
                up.memory.append(up.needs.sample_memory(time.monotonic() - up.running.started_s))
            threads = probe.ThreadWatch(up.serving(stack.hops[-1]))
            looked_s, waits, used = time.monotonic(), probe.waits_ns(self._pids_of(up)), probe.cpu_by_process()
            for moment in _LOOKS if rewarm_s else ():
                engine.wait(engine.begun_s + rewarm_s * moment)
                threads.look()
            # all clocks start with the recorded part, after the re-warm; the stack's own is the last
            engine.wait(engine.begun_s + rewarm_s)
            self._all.begin()
            written_bytes = size_of(up.running.directory)
            counted_s, counted, asked = time.monotonic(), served(up.running.directory), held.asked
            before = probe.read_machine(self._processes.supervisors, self._cores.stack_cores)
            self._services.begin()
            up.sampler.begin()
            length_s = math.inf if load.duration_s is None else load.duration_s
            if meanwhile is not None:
                # here, since the engine has a thread of its own: an error, or Ctrl-C, ends the load on its way out
                meanwhile(LoadedStack(running=up.running, guard=self._guard, engine=engine))
                limit_s = time.monotonic() - counted_s
            # and stop before the engine does, which may wait for the last requests: servers log complaints about
            # requests that it then abandons, and these are no access log
            engine.wait(min(engine.begun_s + rewarm_s + length_s, counted_s + limit_s))
            counted_now, written_now_bytes = served(up.running.directory), size_of(up.running.directory)
            asked, held_now = held.asked - asked, held.now
            usage = (*up.sampler.end(), *self._services.end())
            after = probe.read_machine(self._processes.supervisors, self._cores.stack_cores)
            looked_for_s = time.monotonic() - looked_s
            used_now, waits_now = probe.cpu_by_process(self._known_pids), probe.waits_ns(self._pids_of(up))
            thread_waits = threads.mean()
            result = replace(engine.finish(counted_s + limit_s), held=held_now)
        wrong = Counter({name: counts.failed.get("body", 0) for name, counts in fates(workload, result).items()})
        loosened = known.doubt(workload, [page for page in workload.requests if wrong[name_of(page)]])
        # a front end sends static files by itself
        static = self._launcher.host_for(stack).static
        others = any(is_below(request.path, static) for request in workload.requests)
        idle_cpu_s = sum(spent_s for path, spent_s in self._all.spent_s().items() if path != stack.path)
        up.memory = sorted([*up.memory, *watch.samples], key=lambda sample: sample.at_s)
        canary_after_ns = probe.canary_ns(self._cores.stack_cores) if self._quiet(_QUIET_S) else 0.0
        wrongs, cause = self._wrong.describe(
            stack.path, (up.running.host, up.running.port), known.now(workload), load, result, loosened
        )
        return Observation(
            stack=stack,
            load=load,
            result=result,
            usage=usage,
            machine=probe.difference(before, after, canary_ns=(canary_before_ns, canary_after_ns)),
            stack_wait_s=probe.waited_s(waits, waits_now),
            threads=thread_waits,
            offenders=probe.offenders(used, used_now, looked_for_s),
            raised=self._guard.raised,
            cores=self._cores,
            idle_cpu_s=idle_cpu_s,
            generator_threads=min(len(self._cores.generator_cores), load.concurrency),
            ceiling_per_s=ceiling_per_s,
            slow=slow(result.histogram),
            served=None if counted is None or counted_now is None or others else counted_now - counted - asked,
            count_offset_s=abs(result.started_at - counted_s),
            log_bytes=max(written_now_bytes - written_bytes, 0),
            debug=self._debug,
            page_s=workload.page.wall_s,
            pauses=any(request.think_s > 0 for request in workload.requests),
            changing=known.pages(workload),
            wrongs=wrongs,
            wrong_status=cause.status,
            wrong_server=cause.server,
            wrongly_accused=sum(wrong[name] for name in loosened),
        )

    def _load(self, up: _RunningStack, workload: Workload, load: Load, **more: Any) -> EngineRun:
        """Return an engine run for ``load`` that has not begun; ``more`` are arguments of the engine's ``run``."""
        play = partial(
            run,
            address=(up.running.host, up.running.port),
            workload=workload,
            load=load,
            cores=self._cores.generator_cores,
            **more,
        )
        return self._begin_load(lambda monitor: play(monitor=monitor))

    def _held_connections(
        self, up: _RunningStack, workload: Workload, load: Load
    ) -> AbstractContextManager[Holder]:
        address, cores = (up.running.host, up.running.port), self._cores.generator_cores
        return holding(address, workload, load, cores=cores)

    def running(self, stack: Stack) -> Running:
        """Return ``stack`` as it runs here."""
        return self._up[stack.path].running

    def target(self, stack: Stack, workload: Workload) -> tuple[tuple[str, int], Workload]:
        """Return the address of ``stack``, and ``workload`` with the current right answers."""
        running = self.running(stack)
        return (running.host, running.port), self._launcher.known.now(workload)

    def warm_up(self, stack: Stack, workload: Workload, load: Load, enough: Enough) -> float:
        """Send ``load`` without a pause until it is ``enough``; return the seconds. Only memory is sampled."""
        up = self._up[stack.path]
        workload = self._launcher.known.now(workload)
        self._at_rest = False
        with (
            self._held_connections(up, workload, load),
            probe.MemoryWatch(up.sampler, up.running.started_s) as watch,
            self._load(up, workload, load, follow_s=0.0) as engine,
        ):
            for counts in engine.bins(WARM_BIN_S):
                if enough(counts):
                    break
            engine.finish(0.0)
        up.memory += watch.samples
        return time.monotonic() - engine.begun_s

    def rest(self, limit_s: float = math.inf) -> None:
        """Wait until no stack works any more, for ``_REST_S`` or ``limit_s`` at most.

        A slice ends while requests wait in queues. If each has its own connection, servers still answer all of
        them, though nobody reads the answers, and would do so during the next slice. A page that sleeps or waits
        takes no CPU time meanwhile, but its connection stays.
        """
        self._update_processes()
        patience_s = _RESTLESS_S if self._restless else _REST_S
        # the canary already looked after the slice, and no request was sent since
        if self._at_rest or self._quiet(min(patience_s, limit_s)):
            self._restless = False
        elif limit_s >= patience_s:
            self._restless = True

    def _quiet(self, limit_s: float) -> bool:
        """Check repeatedly whether all stacks are at rest, for ``limit_s`` at most; return the last result."""
        until = time.monotonic() + limit_s
        while not self._at_rest and time.monotonic() < until:
            self._all.begin()
            begun = time.monotonic()
            time.sleep(REST_LOOK_S)
            works = sum(self._all.spent_s().values()) >= _REST_SHARE * (time.monotonic() - begun)
            self._at_rest = not works and not abandoned_by_clients(up.running for up in self._up.values())
        return self._at_rest

    def disturbance(self) -> Disturbance:
        """Measure briefly how much of the stacks' and the engine's cores other programs use."""
        groups = [cores for cores in (self._cores.stack_cores, self._cores.generator_cores) if cores]
        self._all.begin()
        began_s, used, unused = time.monotonic(), probe.cpu_by_process(), probe.unused_by_core()
        time.sleep(probe.LOOK_S)
        elapsed_s, ours_s = time.monotonic() - began_s, sum(self._all.spent_s().values())
        unused_now = probe.unused_by_core()
        shares = [
            1 - (sum(unused_now[core] - unused[core] for core in cores) + ours_s) / (elapsed_s * len(cores))
            for cores in groups
        ]
        others = probe.offenders(used, probe.cpu_by_process(self._known_pids), elapsed_s)
        return Disturbance(share=max(0.0, *shares), offenders=others)

    def _pids_of(self, up: _RunningStack) -> set[int]:
        return up.sampler.pids | self._services.pids

    @property
    def _known_pids(self) -> set[int]:
        return self._all.pids | self._services.pids | set(self._processes.supervisors)

    def failure_of(self, stack: Stack) -> Failure | None:
        """Return the failure of ``stack`` if it died since its launch or exceeded its memory; None if not."""
        up = self._up[stack.path]
        return self._launcher.failure_of(up.running) or self._too_large(up)

    def _too_large(self, up: _RunningStack) -> Failure | None:
        """Return a failure if the processes of a stack together exceed its limit, which no control group enforces.

        Called between slices, because reading the memory of all processes would disturb one.
        """
        most = self._cores.memory_bytes
        if most is None or self._cores.enforced is Enforcement.CGROUP:
            return None
        up.memory.append(up.sampler.sample_memory(time.monotonic() - up.running.started_s))
        held_bytes = max(sum(sample.pss_bytes.values()) for sample in up.memory)
        return exceeded(most, held_bytes) if held_bytes > most else None

    def retire(self, stacks: Sequence[Stack]) -> Background[Retired]:
        leaving = [self._up.pop(stack.path) for stack in stacks if stack.path in self._up]
        self._watch_all()
        listening = listeners()
        stopping = [inspect(self._guard, up.running, up.memory, listening) for up in leaving]
        return Background(lambda: retired(self._guard, stopping))

    def _pids_by_stack(self) -> dict[str, list[int]]:
        """Return the pids of the started parts of each running stack, by its path."""
        return {path: [pid for _, pid in up.running.parts] for path, up in self._up.items()}

    def _watch_all(self) -> None:
        """Watch all running stacks with one sampler and one scan, to check that those without load are idle."""
        roots = self._pids_by_stack()
        self._processes.is_up(self._guard.pid, roots)
        self._all_pids_by_stack = {**roots, **self._processes.others(self._guard.pid)}
        self._all = probe.Sampler(self._all_pids_by_stack, self._guard.pid)
        self._at_rest = False

    def _update_processes(self) -> None:
        if {**self._pids_by_stack(), **self._processes.others(self._guard.pid)} != self._all_pids_by_stack:
            self._watch_all()
