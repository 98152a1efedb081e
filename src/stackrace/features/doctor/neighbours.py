"""Who else is on this machine: what runs, what will, what earlier races left."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...deploy import sockets
from ...deploy.guard import RUN_DIRECTORY
from ...measure.probe.proc import open_files, pids, process_name, read
from .surroundings import Job, Remains

__all__ = ["daemons", "jobs", "listeners", "remains"]

_PORTS = (8000, 8765)
"""What the examples load, and where ``stackrace web`` listens."""

_WITHIN_S = 3600.0


def daemons() -> frozenset[str]:
    """Return the names of all running processes. Source: proc_pid_comm(5), at most 15 characters."""
    return frozenset(process_name(pid) for pid in pids())


def jobs(listed: str | None = None, now_s: float | None = None) -> tuple[Job, ...]:
    """Return systemd's timers that are due within an hour, the nearest first; none where systemd does not run.

    ``listed`` is what systemctl printed, ``now_s`` the wall clock's time then. Source: systemctl(1), list-timers;
    ``next`` is in microseconds since 1970, 0 or null for never.
    """
    now_s = time.time() if now_s is None else now_s
    text = _list_timers() if listed is None else listed
    try:
        timers = json.loads(text or "[]")
    except ValueError:
        return ()  # systemd before 247 prints a table
    due = [Job(name=str(timer["unit"]), due_s=timer["next"] / 1e6 - now_s) for timer in timers if timer["next"]]
    return tuple(sorted((job for job in due if job.due_s < _WITHIN_S), key=lambda job: job.due_s))


def _list_timers() -> str:
    if not Path("/run/systemd/system").exists():
        return ""  # sd_booted(3)
    try:
        command = ("systemctl", "list-timers", "--output=json", "--no-pager")
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def remains(folders: Iterable[Path] | None = None) -> tuple[Remains, ...]:
    """Return the run directories of races that are there, with the processes that work in them."""
    if folders is None:
        tops = dict.fromkeys((Path(tempfile.gettempdir()), Path("/tmp")))
        paths = (path for top in tops if top.is_dir() for path in top.iterdir())
        folders = [path for path in paths if RUN_DIRECTORY.fullmatch(path.name)]
    users = {pid: _use(pid) for pid in pids() if pid != os.getpid()}
    return tuple(_remains(folder, users) for folder in sorted(folders))


def _remains(folder: Path, users: Mapping[int, tuple[str, list[str]]]) -> Remains:
    workers = [
        pid
        for pid, (cwd, words) in users.items()
        if _inside(cwd, folder) or any(_inside(word, folder) for word in words)
    ]
    guarded = any(
        any(word.endswith("/supervisor.py") for word in users[pid][1]) and str(folder) in users[pid][1]
        for pid in workers
    )
    return Remains(folder=folder, pids=tuple(workers), guarded=guarded)


def _inside(word: str, folder: Path) -> bool:
    return word == str(folder) or f"{folder}/" in word


def _use(pid: int) -> tuple[str, list[str]]:
    """Where a process works and how it was called."""
    try:
        cwd = str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        cwd = ""
    return cwd, (read(f"/proc/{pid}/cmdline") or b"").decode(errors="replace").split("\0")


def listeners(ports: Iterable[int] = _PORTS) -> Mapping[int, str]:
    """Return who listens on ``ports`` of this machine: ``python3 (pid 812)``, or "another user's process"."""
    inodes = {inode: port for port, own in sockets.listeners().items() if port in ports for inode in own}
    owners = dict.fromkeys(inodes.values(), "another user's process")
    for pid in pids() if inodes else ():
        files = open_files(pid)
        for inode in files.sockets & inodes.keys() if files else ():
            owners[inodes[inode]] = f"{process_name(pid)} (pid {pid})"
    return owners
