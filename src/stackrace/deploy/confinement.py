"""Resource limits of launched stacks on this machine: control groups if available, else limits per process."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from ..base.process.processes import read
from ..base.units import SIZE
from ..measure.launch import Failure, FailureKind
from ..measure.resources import Enforcement, format_cores


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """Limits of each stack, and the means to enforce them."""

    memory_bytes: int | None = None
    """Memory limit of each stack; None for no limit."""
    folder: Path | None = None
    """Control group that contains the groups of the stacks; None if there is none."""
    why_not: str = ""
    """Reason why there is no ``folder``; empty if there is one."""

    def group(self) -> Group | None:
        """Create and return the control group of one stack, with the memory limit and on any core.

        Returns None without a ``folder``. The group's name contains the id of this process. Raises OSError if the
        group cannot be created.
        """
        if self.folder is None:
            return None
        group = Group(self.folder / f"stackrace-{os.getpid()}-{next(_NUMBERS)}")
        group.folder.mkdir()
        if self.memory_bytes is not None:
            try:
                group.bound(self.memory_bytes)
            except OSError:
                group.remove()
                raise
        return group

    @property
    def data_bytes(self) -> int | None:
        """Memory limit of each process in bytes if no control group limits them together; None for no such limit.

        The limit becomes RLIMIT_DATA: private memory that may be written. RLIMIT_AS would count reserved memory,
        which runtimes with several threads or a garbage collector reserve many times over.

        Source: getrlimit(2), RLIMIT_DATA (anonymous mappings count since Linux 4.7).
        """
        return self.memory_bytes if self.folder is None else None

    @property
    def enforced(self) -> Enforcement:
        """Mechanism that enforces the limits."""
        return Enforcement.AFFINITY if self.folder is None else Enforcement.CGROUP


@contextmanager
def confined(memory_bytes: int | None) -> Iterator[Confinement]:
    """Yield the confinement of stacks on this machine. Enter the context before any process is started."""
    folder, why_not = None, ""
    with ExitStack() as held:
        try:
            folder = held.enter_context(_delegated(current_group()))
        except _NotDelegated as reason:
            why_not = str(reason)
        yield Confinement(memory_bytes=memory_bytes, folder=folder, why_not=why_not)


def exceeded(memory_bytes: int, held_bytes: int | None = None, log: str = "") -> Failure:
    """Return the failure of a stack that exceeded its memory limit.

    ``held_bytes`` is the memory that its processes held, None if unknown.
    """
    held = "" if held_bytes is None else f": its processes held {SIZE.format(held_bytes)} together"
    message = f"exceeded its memory limit of {SIZE.format(memory_bytes)}{held}"
    return Failure(kind=FailureKind.DIED, message=message, log=log)


def current_group() -> Path | None:
    """Return the folder of this process's control group of version 2; None if there is none."""
    try:
        groups, mounts = (Path("/proc/self", name).read_text() for name in ("cgroup", "mountinfo"))
    except OSError:
        return None
    return _group_of(groups, mounts)


_NEEDED = ("cpuset", "memory")
_NUMBERS = count(1)
_EMPTY_AFTER_S = 2.0
"""Seconds that the kernel may need to notice the end of a group's last process."""
_POLL_S = 0.01


class _NotDelegated(Exception):  # noqa: N818 (names a state of the machine)
    """No group can be created here; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class Group:
    """Control group of one stack."""

    folder: Path

    def bound(self, memory_bytes: int) -> None:
        """Limit the memory of all processes together, without swap; above the limit the kernel kills all of them.

        The file cache of the processes counts, but the kernel drops it before it kills a process.
        """
        _write(self.folder / "memory.max", str(memory_bytes))
        _write(self.folder / "memory.oom.group", "1")
        with suppress(FileNotFoundError):  # a kernel without swap has no such file
            _write(self.folder / "memory.swap.max", "0")

    def pin(self, cores: Sequence[int]) -> None:
        """Bind all processes of the group, including future ones, to ``cores``, whatever affinity they set."""
        _write(self.folder / "cpuset.cpus", format_cores(cores))

    @property
    def oom_kills(self) -> int:
        """Number of processes that the kernel killed because the group exceeded its memory; 0 if unknown."""
        with suppress(OSError, ValueError):
            for line in (self.folder / "memory.events").read_text(encoding="ascii").splitlines():
                name, _, value = line.partition(" ")
                if name == "oom_kill":
                    return int(value)
        return 0

    def remove(self) -> None:
        """Remove the group after its processes have ended; if this fails, an empty group stays."""
        _remove(self.folder)


@contextmanager
def _delegated(folder: Path | None) -> Iterator[Path]:
    """Yield ``folder``, the group of this process, prepared for groups below it; restore it afterwards.

    A group with processes cannot give its children controllers, so this process moves into a child group
    first. Raises _NotDelegated if controllers are missing, the folder is not writable, or other processes share it.
    """
    if folder is None:
        raise _NotDelegated("control groups of version 2 are not mounted")
    lacking = set(_NEEDED) - set(_words_in(folder / "cgroup.controllers"))
    if lacking:
        raise _NotDelegated(f"the group {folder} has no controller {' and '.join(sorted(lacking))}")
    if not os.access(folder, os.W_OK) or not os.access(folder / "cgroup.subtree_control", os.W_OK):
        raise _NotDelegated(f"the group {folder} may not be written")
    missing = [name for name in _NEEDED if name not in _words_in(folder / "cgroup.subtree_control")]
    if not missing:
        yield folder
        return
    others = set(_words_in(folder / "cgroup.procs")) - {str(os.getpid())}
    if others:
        raise _NotDelegated(f"other processes share the group {folder}")
    own = folder / f"stackrace-{os.getpid()}"
    try:
        own.mkdir()
        _write(own / "cgroup.procs", str(os.getpid()))
        _write(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in missing))
    except OSError as error:
        _undo(folder, own, [])
        raise _NotDelegated(f"the group {folder} cannot be divided: {error.strerror}") from error
    try:
        yield folder
    finally:
        _undo(folder, own, missing)


def _group_of(groups: str, mounts: str) -> Path | None:
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


def _undo(folder: Path, left: Path, enabled: Sequence[str]) -> None:
    """Move this process back to its group; a failure leaves no more than an empty group."""
    with suppress(OSError):
        if enabled:
            _write(folder / "cgroup.subtree_control", " ".join(f"-{name}" for name in enabled))
        _write(folder / "cgroup.procs", str(os.getpid()))
    _remove(left)


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + _EMPTY_AFTER_S
    while True:
        try:
            return folder.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                return None
            time.sleep(_POLL_S)


def _words_in(file: Path) -> list[str]:
    return (read(str(file)) or b"").decode("ascii").split()


def _write(file: Path, text: str) -> None:
    """Write to a file of the kernel in one call, without creating it."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)
