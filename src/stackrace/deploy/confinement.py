"""Holds launched stacks to their resources on this machine: control groups where there are any, else limits."""

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
    """What each stack may hold, with the means to enforce it."""

    memory_bytes: int | None = None
    """The limit of each stack; None for no limit."""
    folder: Path | None = None
    """The control group below which stacks get theirs; None where that cannot be had."""
    why_not: str = ""
    """Why there is no ``folder``."""

    def group(self) -> Group | None:
        """Make the group of one stack, bound to its memory, on any core; its name tells whose it is."""
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
        """What each process by itself may hold, where no group bounds all of them together.

        It becomes RLIMIT_DATA: private memory that may be written. RLIMIT_AS would count what is only reserved, of
        which runtimes with several threads or a garbage collector have many times what they use.

        Source: getrlimit(2), RLIMIT_DATA (anonymous mappings count since Linux 4.7).
        """
        return self.memory_bytes if self.folder is None else None

    @property
    def enforced(self) -> Enforcement:
        """By what."""
        return Enforcement.AFFINITY if self.folder is None else Enforcement.CGROUP


@contextmanager
def confined(memory_bytes: int | None) -> Iterator[Confinement]:
    """Hold what confines stacks on this machine. Enter it before any process is started."""
    folder, why_not = None, ""
    with ExitStack() as held:
        try:
            folder = held.enter_context(_delegated(own_group()))
        except _NotDelegated as reason:
            why_not = str(reason)
        yield Confinement(memory_bytes=memory_bytes, folder=folder, why_not=why_not)


def exceeded(memory_bytes: int, held_bytes: int | None = None, log: str = "") -> Failure:
    """Return the failure of a stack that wanted more memory than it may have, however that was noticed."""
    held = "" if held_bytes is None else f": its processes held {SIZE.format(held_bytes)} together"
    message = f"exceeded its memory limit of {SIZE.format(memory_bytes)}{held}"
    return Failure(kind=FailureKind.DIED, message=message, log=log)


def own_group() -> Path | None:
    """Return the folder of this process's control group of version 2; None where there is none."""
    try:
        groups, mounts = (Path("/proc/self", name).read_text() for name in ("cgroup", "mountinfo"))
    except OSError:
        return None
    return _group_of(groups, mounts)


_NEEDED = ("cpuset", "memory")
_NUMBERS = count(1)
_EMPTY_AFTER_S = 2.0
"""How long the kernel may take to notice that a group's last process is gone."""
_POLL_S = 0.01


class _NotDelegated(Exception):  # noqa: N818 (a state of the machine, told as such)
    """No group can be made here; the text says why."""


@dataclass(frozen=True, slots=True)
class Group:
    """One stack's group."""

    folder: Path

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
        _remove(self.folder)


@contextmanager
def _delegated(folder: Path | None) -> Iterator[Path]:
    """Hold and yield ``folder``, the group this process is in, as one that has groups below it; leave it as it was.

    A group with processes can give its children no controllers, so this process moves into a child of its own
    first. Raises _NotDelegated where controllers are missing, the folder may not be written, or others share it.
    """
    if folder is None:
        raise _NotDelegated("control groups of version 2 are not mounted")
    lacking = set(_NEEDED) - set(_words(folder / "cgroup.controllers"))
    if lacking:
        raise _NotDelegated(f"the group {folder} has no controller {' and '.join(sorted(lacking))}")
    if not os.access(folder, os.W_OK) or not os.access(folder / "cgroup.subtree_control", os.W_OK):
        raise _NotDelegated(f"the group {folder} may not be written")
    missing = [name for name in _NEEDED if name not in _words(folder / "cgroup.subtree_control")]
    if not missing:
        yield folder
        return
    others = set(_words(folder / "cgroup.procs")) - {str(os.getpid())}
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


def _undo(folder: Path, own: Path, enabled: Sequence[str]) -> None:
    """Put this process back where it was; whatever fails leaves an empty group and no more."""
    with suppress(OSError):
        if enabled:
            _write(folder / "cgroup.subtree_control", " ".join(f"-{name}" for name in enabled))
        _write(folder / "cgroup.procs", str(os.getpid()))
    _remove(own)


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + _EMPTY_AFTER_S
    while True:
        try:
            return folder.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                return None
            time.sleep(_POLL_S)


def _words(file: Path) -> list[str]:
    return (read(str(file)) or b"").decode("ascii").split()


def _write(file: Path, text: str) -> None:
    """Write to a file of the kernel's: in one call, and never making it."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)
