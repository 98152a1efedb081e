"""Which processes belong to which hop, at the price of one directory listing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from .proc import Process, pids, read_process

__all__ = ["Families"]

_FORGET_AFTER_S = 10.0


class Families:
    """Follows the processes of several hops over time.

    A process belongs to a hop when it is one of its roots (one per instance), was born of a member, or runs in
    a root's session: each root leads a session of its own, so orphans that the supervisor adopted still count.
    A member stays one whatever becomes of its parent.

    A process that belongs to nobody never will, so its id is remembered and not read again until it vanishes
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
        """The ids that the last scan found to belong to some hop."""
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
        """Drop strangers that are gone; all of them after a long pause, in which ids may have been reused."""
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
        """Climb from ``process`` until an ancestor's hop is known; ``homes`` learns it for all climbed.

        Where the climb ends at a process that vanished meanwhile nothing is learnt: the next scan asks again.
        """
        climbed: set[int] = set()
        while process.pid not in homes:
            climbed.add(process.pid)
            hop = self._known(process)
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

    def _known(self, process: Process) -> str | None:
        started, hop = self._members.get(process.pid, (-1, ""))
        if started == process.started:
            return hop
        return self._hops.get(process.pid) or self._hops.get(process.session)

    def _remember(self, by_hop: Mapping[str, list[Process]], homes: Mapping[int, str | None]) -> None:
        self._strangers = {pid for pid, hop in homes.items() if hop is None}
        self._members = {
            process.pid: (process.started, hop) for hop, members in by_hop.items() for process in members
        }
