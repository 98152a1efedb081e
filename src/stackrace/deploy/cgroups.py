"""Control groups of our own, one for each stack that is up: the kernel holds it to its cores and its memory.

Version 2 only, and only below the group that this process is in, where that was delegated to us, as systemd does
with ``systemd-run --user --scope -p Delegate=yes stackrace run``. Elsewhere the caller falls back on affinity and
resource limits.

Source: Documentation/admin-guide/cgroup-v2.rst, "Delegation", "No Internal Process Constraint", "Cpuset", "Memory".
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from ..base.core_lists import format_cores

__all__ = ["Group", "NotDelegated", "Subtree", "delegated", "group_of"]

NEEDED = ("cpuset", "memory")
EMPTY_AFTER_S = 2.0
"""How long the kernel may take to notice that a group's last process is gone."""
POLL_S = 0.01


class NotDelegated(Exception):  # noqa: N818 (a state of the machine, told as such)
    """No group can be made here; the text says why."""


@dataclass(frozen=True, slots=True)
class Group:
    """One stack's group."""

    folder: Path
    delete: Callable[[Path], None] = Path.rmdir
    """Removes an empty folder, as rmdir(2) does; tests give another."""

    def bound(self, memory_bytes: int) -> None:
        """Allow its processes ``memory_bytes`` together and no swap; what exceeds them ends all at once.

        What the kernel caches of files for them counts, but is given up before anybody is ended.
        """
        _write(self.folder / "memory.max", str(memory_bytes))
        _write(self.folder / "memory.oom.group", "1")
        with suppress(FileNotFoundError):  # a kernel without swap has no such file
            _write(self.folder / "memory.swap.max", "0")

    def pin(self, cores: Sequence[int]) -> None:
        """Let its processes, those to come included, run on ``cores`` only, whatever affinity they choose."""
        _write(self.folder / "cpuset.cpus", format_cores(cores))

    @property
    def oom_kills(self) -> int:
        """How many of its processes the kernel ended because they exceeded the group's memory."""
        with suppress(OSError, ValueError):
            for line in (self.folder / "memory.events").read_text(encoding="ascii").splitlines():
                name, _, value = line.partition(" ")
                if name == "oom_kill":
                    return int(value)
        return 0

    def remove(self) -> None:
        """Remove the group, whose processes have ended; what cannot be removed stays, empty."""
        _remove(self.folder, self.delete)


@dataclass(slots=True, kw_only=True)
class Subtree:
    """A delegated group below which stacks get theirs."""

    folder: Path
    delete: Callable[[Path], None] = Path.rmdir
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def group(self) -> Group:
        """Make a new group without limits; the name tells whose it is."""
        folder = self.folder / f"stackrace-{os.getpid()}-{next(self._numbers)}"
        folder.mkdir()
        return Group(folder, self.delete)


@contextmanager
def delegated(folder: Path | None, delete: Callable[[Path], None] = Path.rmdir) -> Iterator[Subtree]:
    """Hold ``folder``, the group this process is in, as one that has groups below it; leave it as it was.

    A group with processes can give its children no controllers, so this process moves into a child of its own
    first. Raises NotDelegated where the controllers are missing, the folder may not be written, or others share it.
    """
    if folder is None:
        raise NotDelegated("control groups of version 2 are not mounted")
    lacking = set(NEEDED) - set(_words(folder / "cgroup.controllers"))
    if lacking:
        raise NotDelegated(f"the group {folder} has no controller {' and '.join(sorted(lacking))}")
    if not os.access(folder, os.W_OK) or not os.access(folder / "cgroup.subtree_control", os.W_OK):
        raise NotDelegated(f"the group {folder} may not be written")
    missing = [name for name in NEEDED if name not in _words(folder / "cgroup.subtree_control")]
    if not missing:
        yield Subtree(folder=folder, delete=delete)
        return
    others = set(_words(folder / "cgroup.procs")) - {str(os.getpid())}
    if others:
        raise NotDelegated(f"other processes share the group {folder}")
    own = folder / f"stackrace-{os.getpid()}"
    try:
        own.mkdir()
        _write(own / "cgroup.procs", str(os.getpid()))
        _write(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in missing))
    except OSError as error:
        _undo(folder, own, [], delete)
        raise NotDelegated(f"the group {folder} cannot be divided: {error.strerror}") from error
    try:
        yield Subtree(folder=folder, delete=delete)
    finally:
        _undo(folder, own, missing, delete)


def group_of(groups: str, mounts: str) -> Path | None:
    """Return the folder of a process's group of version 2, from its /proc/PID/cgroup and /proc/PID/mountinfo.

    Source: cgroups(7), "/proc/pid/cgroup"; proc_pid_mountinfo(5).
    """
    path = next((line[3:] for line in groups.splitlines() if line.startswith("0::")), None)
    if path is None or path.startswith("/.."):
        return None
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        if after.split(" ", 1)[0] != "cgroup2":
            continue
        root, place = before.split(" ")[3:5]
        if root == "/" or path == root or path.startswith(f"{root}/"):
            inside = path if root == "/" else path[len(root) :]
            return Path(place) / inside.lstrip("/")
    return None


def _undo(folder: Path, own: Path, enabled: Sequence[str], delete: Callable[[Path], None]) -> None:
    """Put this process back where it was; whatever fails leaves an empty group and no more."""
    with suppress(OSError):
        if enabled:
            _write(folder / "cgroup.subtree_control", " ".join(f"-{name}" for name in enabled))
        _write(folder / "cgroup.procs", str(os.getpid()))
    _remove(own, delete)


def _remove(folder: Path, delete: Callable[[Path], None]) -> None:
    deadline = time.monotonic() + EMPTY_AFTER_S
    while True:
        try:
            return delete(folder)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                return None
            time.sleep(POLL_S)


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii").split()
    except OSError:
        return []


def _write(file: Path, text: str) -> None:
    """Write to a file of the kernel's: in one call, and never making it."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)
