"""Input of the checks: one slice or run, one launch with its end, or a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..measure.host import Conditions, MachineDelta, NetworkLimits, NetworkPath, Offender
from ..measure.launch import HopUsage, Launch, Slice
from ..measure.load import Load, LoadResult
from ..measure.probe import ThreadWaits
from ..measure.resources import Resources
from ..stacks.stack import Stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One stretch of load with everything observed around it."""

    stack: Stack | None
    """Stack under load; None if the server is not ours and nothing is known of it."""
    load: Load
    result: LoadResult
    usage: tuple[HopUsage, ...]
    """Usage of the hops of the stack under load, and of the services that it needs on this machine."""
    limit_s: float = math.inf
    """Most seconds that a run had for its number of requests; infinite without a limit."""
    machine: MachineDelta
    """Activity of the machine from just before the load until just after it."""
    cores: Resources
    idle_cpu_s: float = 0.0
    """CPU seconds that all other running stacks spent meanwhile."""
    stack_wait_s: float = math.inf
    """Seconds that threads of the stack and its services were ready but had no core; infinite if unknown."""
    threads: ThreadWaits | None = None
    """Threads of the server that hosts the app, by what they waited for; None if unknown."""
    offenders: tuple[Offender, ...] = ()
    """Other processes that used the processor meanwhile, the greediest first."""
    raised: bool = False
    """True if the race ran at a higher priority than other programs."""
    needed: bool = False
    """True if other programs use the stacks' cores in every slice and at no other time: they work for the app."""
    generator_threads: int = 1
    ceiling_per_s: float | None = None
    """Most requests per second that the engine can send on this machine; None if unknown."""
    network: tuple[NetworkPath, ...] = ()
    """Networks between engines on other machines and the stack's machine, measured before the race."""
    before_per_s: float | None = None
    """Throughput of the same stack at the next lower concurrency; None if unknown."""
    slow: tuple[tuple[float, int], ...] = ()
    """Latencies above half a second, as pairs of seconds and their number."""
    log_bytes: int = 0
    """Bytes that the stack wrote into its run directory meanwhile."""
    served: int | None = None
    """Requests that the app itself counted; None if it does not count, or if a front end answers some by itself."""
    count_offset_s: float = 0.0
    """Seconds between the beginning of the app's count and the beginning of the load."""
    debug: bool = False
    """True if the app runs in debug mode."""
    page_s: float = 0.0
    """Seconds that an answer takes without any server; 0 if unknown."""
    pauses: bool = False
    """True if connections rest by design (think times)."""
    changing: tuple[str, ...] = ()
    """Pages that the app itself answered differently when asked again during the race."""
    wrongs: tuple[str, ...] = ()
    """Descriptions of the wrong answers, a sentence for each page; empty if they were not inspected."""
    wrong_status: int = 0
    """Status of the most frequent wrong answers; 0 if unknown."""
    wrong_server: str = ""
    """Server header of the most frequent wrong answers."""
    wrongly_accused: int = 0
    """Wrong bodies of pages in ``changing``, received before the change was known."""

    @property
    def stack_cpu_s(self) -> float:
        """CPU seconds of the stack under load."""
        return sum(hop.cpu_s for hop in self.usage)

    @property
    def offender(self) -> str:
        """Process outside the race that used the processor most."""
        return self.offenders[0].label if self.offenders else "processes that come and go"

    @property
    def foreign_on_stack_cores_s(self) -> float:
        """CPU seconds of processes outside the race on the stacks' cores; errors may bring it a little below 0.

        If the engine has its own cores on this machine, all threads of Stackrace run on them only.
        """
        ours_s = self.machine.own_s if self.cores.shared or self.result.engines else 0.0
        return self.machine.stack_cores_busy_s - self.stack_cpu_s - self.idle_cpu_s - ours_s

    @property
    def conditions(self) -> Conditions | None:
        """Conditions on the stacks' cores, as a slice keeps them; None if these cores were not watched."""
        machine = self.machine
        if not machine.stack_cores or machine.elapsed_s <= 0:
            return None
        return Conditions(
            elapsed_s=machine.elapsed_s,
            cores=machine.stack_cores,
            stolen_s=machine.stack_cores_steal_s,
            foreign_s=self.foreign_on_stack_cores_s,
            canary_before_ns=machine.canary_before_ns,
            canary_after_ns=machine.canary_after_ns,
        )

    @property
    def answered(self) -> int:
        """Requests that got an answer, right or wrong."""
        counts = self.result.counts
        return counts.ok + counts.non2xx + counts.failed.get("body", 0)

    @property
    def tried(self) -> int:
        """Requests with a known fate: answered, failed or timed out."""
        return self.result.counts.ok + self.result.counts.errors


class Complaint(StrEnum):
    """Complaint in a server's log that something ran out, in the kernel's own words."""

    NO_PORTS = "Cannot assign requested address"
    NO_FILES = "Too many open files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """State of one launch as it ended."""

    started_s: float = 0.0
    """Start on CLOCK_MONOTONIC; the moments of the memory samples count from it."""
    strangers: tuple[int, ...] = ()
    """Ports of the stack on which a process outside of the stack listened."""
    reloaders: tuple[str, ...] = ()
    """Processes of the stack that watch the app's files, each with the sign of it."""
    complaints: Mapping[Complaint, int] = field(default_factory=dict)
    """Number of each complaint in the stack's logs."""
    disk_bytes: int = 0
    """Size of the file system that holds the run directory; 0 if unknown."""
    disk_free_bytes: int = 0
    """Free space of that file system."""
    listeners_left: tuple[int, ...] = ()
    """Ports on which the stack's own sockets still listen after the stop."""
    processes_left: int = 0
    """Number of the stack's processes that are alive after the stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchView:
    """Finished launch: its stack, its measurements, and its end."""

    stack: Stack
    launch: Launch
    aftermath: Aftermath = field(default_factory=Aftermath)

    @property
    def levels(self) -> dict[tuple[str, str], tuple[Slice, ...]]:
        """Slices of the launch by workload and load, in order of time."""
        levels: dict[tuple[str, str], tuple[Slice, ...]] = {}
        for measured in self.launch.slices:
            level = (measured.workload, measured.load.label)
            levels[level] = (*levels.get(level, ()), measured)
        return levels

    def loaded_s(self, at_s: float) -> float:
        """Return the seconds for which the stack had been measured at ``at_s``, counted from the launch's start."""
        moment_s = self.aftermath.started_s + at_s
        return sum(
            min(max(moment_s - result.started_at, 0.0), result.duration_s)
            for result in (measured.result for measured in self.launch.slices)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """Facts that are known before the first launch."""

    loads: tuple[Load, ...]
    cores: Resources
    limits: NetworkLimits
    connections_per_s: float = 0.0
    """Expected rate of new connections with keep-alive off; 0 if unknown. The rate is known for an open loop. In a
    closed loop it depends on the server, and the engine reports when ports run out."""
    disk_bytes: int = 0
    """Size of the file system that holds run directories; 0 without any."""
    disk_free_bytes: int = 0
    """Free space of that file system."""
    sockets_each: int = 2
    """Sockets of a connection in the process that has most of them: two in a proxy."""
    over_tcp: bool = True
    """False if connections go through Unix sockets, which take no ports."""
    stacks: int = 1
    """Number of stacks that are up at the same time."""
    memory_bytes: float = math.inf
    """Memory that is available to all stacks without swapping."""
    threads: tuple[tuple[int, ...], ...] = ()
    """CPUs of each core; empty if the server does not run on cores of ours."""

    @property
    def concurrency(self) -> int:
        """Highest concurrency of all loads."""
        return max((load.concurrency for load in self.loads), default=0)

    @property
    def held(self) -> int:
        """Most connections beside a load."""
        return max((load.silent + load.idle for load in self.loads), default=0)
