"""Looks at launched stacks as they are stopped, for the checks on launches."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..base.files import opened
from ..base.secrets import masked
from ..validity import Aftermath, Complaint
from .guard import Guard
from .logs import logs_below
from .running import Running
from .sockets import Listeners, descriptors

__all__ = ["Inspection", "inspect"]

_LOG_BYTES = 256 * 1024
_WATCHES = re.compile(rb"--(?:py-auto)?reload\b|--autoreload\b|\brunserver\b(?!.*--noreload)")
_MARKS = (b"RUN_MAIN=true", b"WERKZEUG_RUN_MAIN=true")


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was seen of a stack before it was stopped."""

    aftermath: Aftermath
    """What can be said of its end already."""
    sockets: Mapping[int, frozenset[int]]
    """The inodes of its own listeners, by port."""

    def afterwards(self, guard: Guard, running: Running, listening: Listeners) -> Aftermath:
        """Return the whole aftermath, now that the stack was stopped and ``listening`` are all who still listen."""
        states = guard.status([pid for _, pid in running.parts])
        return replace(
            self.aftermath,
            listeners_left=tuple(
                port for port, own in self.sockets.items() if own & listening.get(port, frozenset())
            ),
            processes_left=sum(len(state.family) for state in states.values()),
        )


def inspect(guard: Guard, running: Running, listening: Listeners) -> Inspection:
    """Look at a stack that is up, and at its run directory; it costs milliseconds, so not while it is measured.

    ``listening`` are all who listen on this machine: the kernel's tables are long, and read once for all stacks.
    """
    states = guard.status([pid for _, pid in running.parts])
    family = sorted({pid for state in states.values() for pid in state.family})
    held = [descriptors(pid) for pid in family]
    # where one of our processes cannot be looked into, whose socket it is cannot be told; nor once none is left
    known = bool(held) and all(files is not None for files in held)
    own = {inode for files in held if files is not None for inode in files.sockets}
    ports = {part.site.listen.port for part, _ in running.parts if not part.site.listen.is_unix}
    sockets = {port: frozenset(listening.get(port, frozenset()) & own) for port in sorted(ports)}
    disk = shutil.disk_usage(running.directory)
    variables = tuple(
        f"{part.recipe.arguments_variable}=".encode() for part, _ in running.parts if part.recipe.arguments_variable
    )
    return Inspection(
        aftermath=Aftermath(
            started_s=running.started_s,
            strangers=tuple(port for port in sorted(ports) if known and listening.get(port, frozenset()) - own),
            reloaders=tuple(filter(None, (_watcher(pid, variables) for pid in family))),
            complaints=_complaints(logs_below(running.directory)),
            disk_bytes=disk.total,
            disk_free_bytes=disk.free,
        ),
        sockets={port: inodes for port, inodes in sockets.items() if inodes},
    )


def _watcher(pid: int, arguments: tuple[bytes, ...]) -> str:
    """Say what gives a process away that starts the app anew when its files change; empty for any other.

    ``arguments`` are how variables begin from which its server reads further arguments.
    """
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").strip()
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        marks = [
            text for text in variables if text in _MARKS or (text.startswith(arguments) and _WATCHES.search(text))
        ]
    except OSError:
        return ""
    if marks:
        return masked(marks[0].decode(errors="replace"))
    if _WATCHES.search(command):
        return masked(command.decode(errors="replace"))[-120:]
    open_files = descriptors(pid)
    if open_files is not None and open_files.watches_files and b"python" in command.split(b" ")[0]:
        return f"inotify in {masked(command.decode(errors='replace'))[:120]}"
    return ""


def _complaints(logs: Iterable[Path]) -> dict[Complaint, int]:
    """Count what logs say of exhausted ports and files, in the last 256 KiB of each."""
    counts: Counter[Complaint] = Counter()
    for path in logs:
        try:
            with opened(path) as file:
                file.seek(max(file.seek(0, os.SEEK_END) - _LOG_BYTES, 0))
                text = file.read(_LOG_BYTES)
        except OSError:
            continue
        counts.update({complaint: text.count(complaint.value.encode()) for complaint in Complaint})
    return {complaint: number for complaint, number in counts.items() if number}
