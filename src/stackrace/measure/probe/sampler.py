"""Resources that a launched stack uses, by hop: processes, CPU time, memory. The cost of sampling is limited."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue

from ...base.process import Background
from ...base.process.processes import Process, pids, read, read_process
from ...base.unix import system_limit
from ..launch import HopUsage, MemorySample
from .kernel_counters import Accounts, accounts, spent_ns
from .proc import database_connections

_FORGET_AFTER_S = 10.0


class _Families:
    """Processes of several hops, followed over time.

    A process belongs to a hop if it is one of its roots (one per instance), is a child of a member, or runs in a
    root's session: each root leads a session of its own, so orphans that the supervisor adopted still count.
    A member stays a member even if its parent ends.

    A process that belongs to no hop never will, so its id is remembered and not read again until it disappears
    from the listing. A scan thus costs one listing and one read per member. /proc/PID/task/TID/children would
    cost two reads and a listing per member, misses orphans, exists only in some kernels and is, says
    proc_tid_children(5), reliable only for frozen processes.
    """

    def __init__(self, hops: Mapping[str, Sequence[int]], supervisor_pid: int) -> None:
        self._hops = {pid: hop for hop, roots in hops.items() for pid in roots}
        self._names = tuple(hops)
        self._members: dict[int, tuple[int, str]] = {}
        self._strangers: set[int] = {supervisor_pid}
        self._supervisor = supervisor_pid
        self._scanned_at = 0.0

    @property
    def members(self) -> set[int]:
        """Ids of the processes that belonged to a hop in the last scan."""
        return set(self._members)

    def scan(self) -> dict[str, list[Process]]:
        """Return the living members by hop; every hop has an entry."""
        alive = pids()
        self._forget(alive)
        processes = self._read(alive)
        homes: dict[int, str | None] = dict.fromkeys(self._strangers)
        by_hop: dict[str, list[Process]] = {hop: [] for hop in self._names}
        for process in processes.values():
            hop = self._home(process, processes, homes)
            if hop is not None:
                by_hop[hop].append(process)
        self._remember(by_hop, homes)
        return by_hop

    def _forget(self, alive: list[int]) -> None:
        """Forget strangers that are gone; after a long pause forget all, since ids may have been reused."""
        now = time.monotonic()
        kept = self._strangers.intersection(alive) if now - self._scanned_at < _FORGET_AFTER_S else set()
        self._strangers = kept | {self._supervisor}
        self._scanned_at = now

    def _read(self, alive: list[int]) -> dict[int, Process]:
        processes = {}
        for pid in alive:
            if pid not in self._strangers and (process := read_process(pid)) is not None:
                processes[pid] = process
        return processes

    def _home(self, process: Process, processes: Mapping[int, Process], homes: dict[int, str | None]) -> str | None:
        """Return the hop of ``process``, found by climbing to an ancestor whose hop is known; None if it has none.

        Enter the hop into ``homes`` for all processes climbed. Enter nothing if the climb ends at a process that
        vanished meanwhile: the next scan tries again.
        """
        climbed: set[int] = set()
        while process.pid not in homes:
            climbed.add(process.pid)
            hop = self._hop_of(process)
            if hop is not None or process.parent == 0:
                homes[process.pid] = hop
            elif process.parent in homes:
                homes[process.pid] = homes[process.parent]
            elif process.parent in processes and process.parent not in climbed:
                process = processes[process.parent]
            else:
                return None
        home = homes[process.pid]
        homes.update(dict.fromkeys(climbed, home))
        return home

    def _hop_of(self, process: Process) -> str | None:
        started, hop = self._members.get(process.pid, (-1, ""))
        if started == process.started:
            return hop
        return self._hops.get(process.pid) or self._hops.get(process.session)

    def _remember(self, by_hop: Mapping[str, list[Process]], homes: Mapping[int, str | None]) -> None:
        self._strangers = {pid for pid, hop in homes.items() if hop is None}
        self._members = {
            process.pid: (process.started, hop) for hop, members in by_hop.items() for process in members
        }


class Allowance:
    """Limit that keeps repeated work below ``share`` of one core: after work that cost c, the next waits c/share.

    The cost is the working thread's own CPU time, kernel included, so it does not depend on how busy the machine
    is. Several watches that share one allowance stay below ``share`` together. Safe to use from any thread.
    """

    def __init__(self, share: float = 0.004, least_pause_s: float = 0.5) -> None:
        self._share = share
        self._least_pause_s = least_pause_s
        self._due_at = 0.0
        self._lock = threading.Lock()
        self.spent_s = 0.0

    def pause_s(self) -> float:
        """Return the seconds until the next piece of work is due; 0 if it is due."""
        return max(0.0, self._due_at - time.monotonic())

    @contextmanager
    def work(self) -> Iterator[None]:
        """Charge the CPU time of the block to the allowance; one block runs at a time."""
        with self._lock:
            began = time.thread_time()
            try:
                yield
            finally:
                self._account(time.thread_time() - began)

    def _account(self, cost_s: float) -> None:
        self.spent_s += cost_s
        now = time.monotonic()
        self._due_at = max(now + self._least_pause_s, max(now, self._due_at) + cost_s / self._share)


_PAGE_BYTES = system_limit("SC_PAGE_SIZE")


def _pss_bytes(pid: int) -> int:
    """Return the proportional set size of ``pid``; 0 if the process is gone.

    If the kernel does not report it (another user's process, a kernel before 4.14), return the resident set, which
    counts shared pages in full: an upper bound. Source: proc_pid_smaps(5), smaps_rollup.
    """
    for line in (read(f"/proc/{pid}/smaps_rollup") or b"").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    fields = (read(f"/proc/{pid}/statm") or b"").split()
    return int(fields[1]) * _PAGE_BYTES if len(fields) > 1 else 0


class Sampler:
    """Reader of CPU time and memory of one launch's hops.

    ``hops`` maps their names to their root processes, one per instance. ``begin`` and ``end`` bracket a slice: call
    them when its window opens and closes, without the re-warm before it, and ``read_machine`` just outside of them.
    Each costs one scan of the hops' processes, about 0.5 ms. One thread may bracket slices while another samples
    memory, but no two threads may do the same.
    """

    def __init__(
        self, hops: Mapping[str, Sequence[int]], supervisor_pid: int, allowance: Allowance | None = None
    ) -> None:
        self.allowance = allowance or Allowance()
        self.counts_connections = False
        """True if memory samples also count connections to databases."""
        self._for_cpu = _Families(hops, supervisor_pid)
        self._for_memory = _Families(hops, supervisor_pid)
        self._before: Mapping[str, Accounts] = {}
        self._memory: Mapping[str, int] = {}

    @property
    def pids(self) -> set[int]:
        """Ids of the processes of all hops, from the last reading of their CPU time."""
        return self._for_cpu.members

    def processes_of(self, hop: str) -> tuple[int, ...]:
        """Return the ids of the processes of ``hop`` now."""
        return tuple(process.pid for process in self._for_cpu.scan()[hop])

    def begin(self) -> None:
        """Read the CPU clocks at the start of a slice."""
        self._before = {hop: accounts(members) for hop, members in self._for_cpu.scan().items()}

    def spent_s(self) -> dict[str, float]:
        """Return the CPU seconds of each hop since ``begin``; cheaper than ``end``, since memory is not read."""
        by_hop = self._for_cpu.scan()
        return {
            hop: spent_ns(self._before.get(hop, {}), accounts(members)) / 1e9 for hop, members in by_hop.items()
        }

    def end(self) -> tuple[HopUsage, ...]:
        """Return the resources that each hop used since ``begin``.

        Memory is that of the last sample; a new sample is taken if there is none or the allowance has it due.
        """
        by_hop = self._for_cpu.scan()
        spent = {hop: spent_ns(self._before.get(hop, {}), accounts(members)) for hop, members in by_hop.items()}
        if not self._memory or self.allowance.pause_s() == 0:
            self.sample_memory(0.0)
        return tuple(self._usage(hop, members, spent[hop]) for hop, members in by_hop.items())

    def sample_memory(self, at_s: float) -> MemorySample:
        """Return the memory of every process now; ``at_s`` is that moment, in seconds from the launch's start."""
        with self.allowance.work():
            scanned = self._for_memory.scan()
            self._memory = {
                hop: sum(_pss_bytes(process.pid) for process in members) for hop, members in scanned.items()
            }
            pids = [process.pid for members in scanned.values() for process in members]
            connections = database_connections(pids) if self.counts_connections else None
        return MemorySample(at_s=at_s, pss_bytes=self._memory, connections=connections)

    def _usage(self, hop: str, members: list[Process], cpu_ns: int) -> HopUsage:
        living = [process for process in members if process.lives]
        return HopUsage(
            hop=hop,
            cpu_s=cpu_ns / 1e9,
            processes=len(living),
            threads=sum(process.threads for process in living),
            pss_bytes=self._memory.get(hop, 0),
        )


class MemoryWatch:
    """Thread that samples a launch's memory until it is stopped; use it as a context manager.

    The thread keeps to the sampler's allowance, by default 0.4 % of one core and at most two samples a second.
    ``started_at`` is the launch's start on CLOCK_MONOTONIC (``time.monotonic()``). The first sample is taken at
    once if due.
    """

    def __init__(self, sampler: Sampler, started_at: float) -> None:
        self._sampler = sampler
        self._started_at = started_at
        self._samples: list[MemorySample] = []
        self._stopping: SimpleQueue[None] = SimpleQueue()
        self._work: Background[None] | None = None

    @property
    def samples(self) -> tuple[MemorySample, ...]:
        """The samples taken so far, in order of time."""
        return tuple(self._samples)

    def __enter__(self) -> MemoryWatch:
        self._work = Background(self._watch, daemon=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the watch and wait until its thread is gone; a second call does nothing."""
        self._stopping.put(None)
        if self._work is not None:
            self._work.finish()

    def _watch(self) -> None:
        while True:
            with suppress(Empty):
                return self._stopping.get(timeout=self._sampler.allowance.pause_s())
            self._samples.append(self._sampler.sample_memory(time.monotonic() - self._started_at))
