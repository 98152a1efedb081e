"""Stopping of stacks, so that they leave nothing behind."""

from __future__ import annotations

import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from ..base.files import read_bytes, remove_tree
from ..base.numbers import duration
from ..base.process import Deadline
from ..base.process.processes import read
from ..base.secrets import masked
from ..measure.launch import Failure, FailureKind, MemorySample
from ..measure.probe.proc import open_files
from ..validity.observation import Aftermath, Complaint
from .guard import Guard, Status
from .machine import Retired
from .rendering import Part
from .running_stack import Running, end_of, logs_below, tail
from .sockets import Listeners, listeners

_POLL_S = 0.05
"""Seconds between polls: stacks mostly stop while others start, and faster polls would slow those down."""
_AGAIN_S = 2.0
"""Seconds until the signal is sent again: a master may miss the first, because its workers answer earlier."""


@dataclass(slots=True)
class _Stopping:
    """A stopping stack: ``ahead`` are the hops not yet signalled, the front one last.

    ``waiting`` are the processes of the signalled hop, last signalled at ``signalled_s``, killed after
    ``deadline``.
    """

    running: Running
    ahead: list[list[tuple[Part, int]]]
    waiting: list[tuple[Part, int]] = field(default_factory=list)
    alive: set[int] = field(default_factory=set)
    """Pids of the hop's living processes, when last looked at."""
    deadline: Deadline = field(default_factory=lambda: Deadline(0.0, tuple))
    signalled_s: float = 0.0

    @property
    def is_over(self) -> bool:
        return not (self.ahead or self.waiting)

    def signal_next(self, guard: Guard) -> None:
        """Signal the next hop once all hops in front of it are gone."""
        if self.ahead and not self.waiting:
            self.waiting = self.ahead.pop()
            self.alive = set()
            self.deadline = Deadline(self.waiting[0][0].recipe.stop_timeout_s, lambda: self.alive)
            self._signal(guard, self.waiting)

    def look(self, guard: Guard, states: Mapping[int, Status]) -> Failure | None:
        """Drop ended processes, signal the others again, and kill late ones; return a failure if any was killed."""
        now_s = time.monotonic()
        self.waiting = [(part, pid) for part, pid in self.waiting if states[pid].alive]
        if now_s - self.signalled_s > _AGAIN_S:
            self._signal(guard, [(part, pid) for part, pid in self.waiting if states[pid].code is None])
        self.alive = {pid for _, first in self.waiting for pid in states[first].alive}
        late = self.waiting if self.deadline.is_over else []
        for _, pid in late:
            guard.kill(pid)
        self.waiting = [member for member in self.waiting if member not in late]
        return _unstopped(late[0][0], states[late[0][1]], self.deadline) if late else None

    def _signal(self, guard: Guard, targets: Sequence[tuple[Part, int]]) -> None:
        self.signalled_s = time.monotonic()
        for part, pid in targets:
            guard.signal(pid, part.recipe.stop)


def stop(guard: Guard, runnings: Sequence[Running]) -> dict[str, Failure]:
    """Stop stacks at the same time, front hops first; return a failure, by stack path, for each that was killed.

    No stack waits for another's hops. Afterwards all their processes and directories are gone.
    """
    complaints: dict[str, Failure] = {}
    stopping = []
    for running in runnings:
        # the last hop of the stack first; instances of a hop stop side by side
        hops = groupby(running.parts, key=lambda started: started[0].hop)
        stopping.append(_Stopping(running, [list(copies) for _, copies in hops]))
    while stopping:
        for descent in stopping:
            descent.signal_next(guard)
        states = guard.status([pid for descent in stopping for _, pid in descent.waiting])
        for descent in stopping:
            complaint = descent.look(guard, states)
            if complaint is not None:
                complaints[descent.running.stack.path] = complaint
        waiting = any(descent.waiting for descent in stopping)
        stopping = [descent for descent in stopping if not descent.is_over]
        if waiting:
            time.sleep(_POLL_S)
    for running in runnings:
        remove_tree(running.directory)
        if running.group is not None:
            running.group.remove()
    return complaints


def _unstopped(part: Part, status: Status, deadline: Deadline) -> Failure:
    name = signal.Signals(part.recipe.stop).name
    who = "left processes behind" if status.code is not None else "did not end"
    return Failure(
        kind=FailureKind.NOT_STOPPED,
        message=f"{part.hop} {who} within {duration(deadline.limit_s)} of {name} and was killed{deadline.waiting}",
        log=tail(part.site.directory),
    )


def retired(guard: Guard, stacks: Sequence[_Leaving]) -> Retired:
    """Stop ``stacks`` and return the results once all their processes are gone."""
    begun_s = time.monotonic()
    complaints = stop(guard, [stack.running for stack in stacks])
    listening = listeners()
    by_path = {stack.running.stack.path: stack for stack in stacks}
    return Retired(
        memory={path: tuple(stack.memory) for path, stack in by_path.items()},
        complaints=complaints,
        aftermaths={path: stack.afterwards(guard, listening) for path, stack in by_path.items()},
        took_s=time.monotonic() - begun_s,
    )


_LOG_BYTES = 256 * 1024
_WATCHES = re.compile(rb"--(?:py-auto)?reload\b|--autoreload\b|\brunserver\b(?!.{0,1000}--noreload)")
_MARKS = (b"RUN_MAIN=true", b"WERKZEUG_RUN_MAIN=true")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaving:
    running: Running
    memory: Sequence[MemorySample]
    aftermath: Aftermath
    """Findings from before the stop."""
    sockets: Mapping[int, frozenset[int]]
    """Inodes of the stack's own listening sockets, by port."""

    def afterwards(self, guard: Guard, listening: Listeners) -> Aftermath:
        """Return the complete aftermath of the stopped stack; ``listening`` are all sockets that still listen."""
        states = guard.status([pid for _, pid in self.running.parts])
        return replace(
            self.aftermath,
            listeners_left=tuple(
                port for port, own in self.sockets.items() if own & listening.get(port, frozenset())
            ),
            processes_left=sum(len(state.alive) for state in states.values()),
        )


def inspect(guard: Guard, running: Running, memory: Sequence[MemorySample], listening: Listeners) -> _Leaving:
    """Inspect a running stack and its run directory; this takes milliseconds, so not during a measurement.

    ``listening`` are all listeners of this machine: the kernel's tables are long, and read once for all stacks.
    """
    states = guard.status([pid for _, pid in running.parts])
    alive = sorted({pid for state in states.values() for pid in state.alive})
    held = [open_files(pid) for pid in alive]
    # the owners of sockets are known only if all our processes are readable, and at least one is left
    known = bool(held) and all(files is not None for files in held)
    own = {inode for files in held if files is not None for inode in files.sockets}
    ports = {part.site.listen.port for part, _ in running.parts if not part.site.listen.is_unix}
    sockets = {port: frozenset(listening.get(port, frozenset()) & own) for port in sorted(ports)}
    disk = shutil.disk_usage(running.directory)
    variables = tuple(
        f"{part.recipe.arguments_variable}=".encode() for part, _ in running.parts if part.recipe.arguments_variable
    )
    return _Leaving(
        running=running,
        memory=memory,
        aftermath=Aftermath(
            started_s=running.started_s,
            strangers=tuple(port for port in sorted(ports) if known and listening.get(port, frozenset()) - own),
            reloaders=tuple(filter(None, (_watcher(pid, variables) for pid in alive))),
            complaints=_complaints(logs_below(running.directory)),
            disk_bytes=disk.total,
            disk_free_bytes=disk.free,
        ),
        sockets={port: inodes for port, inodes in sockets.items() if inodes},
    )


def _watcher(pid: int, arguments: tuple[bytes, ...]) -> str:
    """Return the sign that a process reloads the app when its files change; empty if there is none.

    ``arguments`` are the beginnings of variables from which its server reads further arguments.
    """
    command = (read(f"/proc/{pid}/cmdline") or b"").replace(b"\0", b" ").strip()
    variables = (read(f"/proc/{pid}/environ") or b"").split(b"\0")
    marks = [text for text in variables if text in _MARKS or (text.startswith(arguments) and _WATCHES.search(text))]
    if marks:
        return masked(marks[0].decode(errors="replace"))
    if _WATCHES.search(command):
        return masked(command.decode(errors="replace"))[-120:]
    files = open_files(pid)
    if files is not None and files.watches_files and b"python" in command.split(b" ")[0]:
        return f"inotify in {masked(command.decode(errors='replace'))[:120]}"
    return ""


def _complaints(logs: Iterable[Path]) -> dict[Complaint, int]:
    counts: Counter[Complaint] = Counter()
    for path in logs:
        text, _ = end_of(path, _LOG_BYTES)
        counts.update({complaint: text.count(complaint.value.encode()) for complaint in Complaint})
    return {complaint: number for complaint, number in counts.items() if number}


COUNT = "count"
"""Folder in a host's directory where each process keeps its count of requests; see ``app.counting``."""


def served(directory: Path) -> int | None:
    """Return the number of requests counted below a launch's ``directory``; None if nothing was ever counted."""
    total = None
    for path in directory.glob(f"*/{COUNT}/*"):
        try:
            total = (total or 0) + int.from_bytes(read_bytes(path)[:8], "little")
        except OSError:
            continue
    return total
