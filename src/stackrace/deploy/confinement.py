"""Holds launched stacks to their resources on this machine: control groups where there are any, else limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..base.units import SIZE
from ..measure.launch import Failure, FailureKind
from ..measure.resources import Enforcement
from .cgroups import Group, NotDelegated, Subtree, delegated, group_of

__all__ = ["Confinement", "confined", "exceeded", "own_group"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What each stack may hold, with the means to enforce it."""

    memory_bytes: int | None = None
    """The limit of each stack; None for no limit."""
    subtree: Subtree | None = None
    """Where the stacks' control groups are made; None where they cannot be had."""
    why_not: str = ""
    """Why there is no ``subtree``."""

    def group(self) -> Group | None:
        """Make the group of one stack, bound to its memory; it may still run on any core."""
        if self.subtree is None:
            return None
        group = self.subtree.group()
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
        return self.memory_bytes if self.subtree is None else None

    @property
    def enforced(self) -> Enforcement:
        """By what."""
        return Enforcement.AFFINITY if self.subtree is None else Enforcement.CGROUP


@contextmanager
def confined(memory_bytes: int | None) -> Iterator[Confinement]:
    """Hold what confines stacks on this machine. Enter it before any process is started."""
    subtree, why_not = None, ""
    with ExitStack() as held:
        try:
            subtree = held.enter_context(delegated(own_group()))
        except NotDelegated as reason:
            why_not = str(reason)
        yield Confinement(memory_bytes=memory_bytes, subtree=subtree, why_not=why_not)


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
    return group_of(groups, mounts)
