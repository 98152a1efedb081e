"""What the checks may look at: one slice or run, one launch with its end, or what is planned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..measure.host import Conditions, MachineDelta, NetworkLimits, NetworkPath, Offender
from ..measure.launch import HopUsage, Launch, Slice
from ..measure.load import Load, LoadResult
from ..measure.resources import Resources
from ..stacks.stack import Stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One stretch of load as it was seen from all sides."""

    stack: Stack | None
    """None where the server is not ours and nothing is known of it."""
    load: Load
    result: LoadResult
    usage: tuple[HopUsage, ...]
    """The hops of the stack under load, and the services it needs on this machine."""
    limit_s: float = math.inf
    """The time that a run had for its number of requests."""
    machine: MachineDelta
    """What the machine did from just before the load until just after it."""
    cores: Resources
    idle_cpu_s: float = 0.0
    """CPU seconds that all other stacks that are up spent meanwhile."""
    stack_wait_s: float = math.inf
    """Seconds that threads of the stack and its services were ready to run and had no core; infinite: unknown."""
    offenders: tuple[Offender, ...] = ()
    """Who else used the processor meanwhile, the greediest first."""
    raised: bool = False
    """Whether the race ran at a higher priority than others."""
    needed: bool = False
    """Whether others use the stacks' cores in every slice and never else: they work for the app."""
    generator_threads: int = 1
    ceiling_per_s: float | None = None
    """The most requests per second that the engine can send on this machine; None when unknown."""
    network: tuple[NetworkPath, ...] = ()
    """The ways of the engines on other machines to the stack's, as they were before the race."""
    before_per_s: float | None = None
    """The same stack's throughput at the next lower concurrency; None when unknown."""
    slow: tuple[tuple[float, int], ...] = ()
    """The latencies above half a second: pairs of seconds and their number."""
    log_bytes: int = 0
    """What the stack wrote into its run directory meanwhile."""
    served: int | None = None
    """How often the app was asked by its own count; None where it has none, or where others answer, too."""
    served_apart_s: float = 0.0
    """How far the beginning of that count lies from the load's."""
    debug: bool = False
    """Whether the app runs in its debug mode."""
    page_s: float = 0.0
    """Seconds that an answer takes without any server; 0 where unknown."""
    pauses: bool = False
    """Whether connections rest by design (think times)."""
    changing: tuple[str, ...] = ()
    """Pages that the app itself, asked again during the race, answered otherwise than before it."""
    wrongs: tuple[str, ...] = ()
    """What was wrong with answers, in a sentence for each page; empty where nobody looked."""
    wrong_status: int = 0
    """The status of the most frequent wrong answers; 0 where nobody knows it."""
    wrong_server: str = ""
    """Their Server header."""
    wrongly_accused: int = 0
    """Wrong bodies of such pages, before that was known."""

    @property
    def stack_cpu_s(self) -> float:
        """CPU seconds of the stack under load."""
        return sum(hop.cpu_s for hop in self.usage)

    @property
    def offender(self) -> str:
        """Who else used the processor most."""
        return self.offenders[0].label if self.offenders else "processes that come and go"

    @property
    def foreign_on_stack_cores_s(self) -> float:
        """CPU seconds of processes outside the race on the stacks' cores; errors may bring it a little below 0.

        Where the engine has cores of its own here, all of our threads keep to those.
        """
        ours_s = self.machine.own_s if self.cores.shared or self.result.engines else 0.0
        return self.machine.stack_cores_busy_s - self.stack_cpu_s - self.idle_cpu_s - ours_s

    @property
    def conditions(self) -> Conditions | None:
        """What the machine did meanwhile, as a slice keeps it; None where nobody watched the stacks' cores."""
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
    """What servers write into their logs when they run out of something: the kernel's own words."""

    NO_PORTS = "Cannot assign requested address"
    NO_FILES = "Too many open files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """One launch, looked at as it ended."""

    started_s: float = 0.0
    """When it was started, on CLOCK_MONOTONIC; its memory's moments count from there."""
    strangers: tuple[int, ...] = ()
    """Ports of the stack on which a process listened that is none of its own."""
    reloaders: tuple[str, ...] = ()
    """Its processes that watch the app's files, each as what gave it away."""
    complaints: Mapping[Complaint, int] = field(default_factory=dict)
    """How often its logs complain of each."""
    disk_bytes: int = 0
    """The size of the file system that holds its run directory, 0 when unknown."""
    disk_free_bytes: int = 0
    """What is free there."""
    listeners_left: tuple[int, ...] = ()
    """Ports on which its own sockets still listen after the stop."""
    processes_left: int = 0
    """How many of its processes still live after the stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchView:
    """A launch that is over: what was launched, what was measured on it, and how it ended."""

    stack: Stack
    launch: Launch
    aftermath: Aftermath = field(default_factory=Aftermath)

    @property
    def levels(self) -> dict[tuple[str, str], tuple[Slice, ...]]:
        """Its slices by workload and load, in order of time."""
        levels: dict[tuple[str, str], tuple[Slice, ...]] = {}
        for measured in self.launch.slices:
            level = (measured.workload, measured.load.label)
            levels[level] = (*levels.get(level, ()), measured)
        return levels

    def loaded_s(self, at_s: float) -> float:
        """Return for how long the stack had been measured at ``at_s``, counted from the launch's start."""
        moment_s = self.aftermath.started_s + at_s
        return sum(
            min(max(moment_s - result.started_at, 0.0), result.duration_s)
            for result in (measured.result for measured in self.launch.slices)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What is known before the first launch."""

    loads: tuple[Load, ...]
    cores: Resources
    limits: NetworkLimits
    connections_per_s: float = 0.0
    """The rate at which connections are expected to be opened with keep-alive off, 0 when nobody knows. It is known
    of an open loop; a closed loop's depends on the server, and there the engine tells when ports run out."""
    disk_bytes: int = 0
    """The size of the file system that run directories lie on, 0 when there are none."""
    disk_free_bytes: int = 0
    """What is free there."""
    sockets_each: int = 2
    """What a connection costs the process that has most of them: two in a proxy."""
    over_tcp: bool = True
    """False where connections are made through Unix sockets, which take no ports."""
    stacks: int = 1
    """How many are up at the same time."""
    memory_bytes: float = math.inf
    """What can be had for all of them without swapping."""
    threads: tuple[tuple[int, ...], ...] = ()
    """The CPUs of each core; empty where the server runs wherever its owner likes."""

    @property
    def concurrency(self) -> int:
        """The highest concurrency of all loads."""
        return max((load.concurrency for load in self.loads), default=0)
