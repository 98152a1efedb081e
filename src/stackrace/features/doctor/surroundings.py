"""Everything the advice may look at: the machine at rest, seen from all sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...measure.host import HostFacts, MachineDelta, Offender
from ...validity.observation import Preparation

__all__ = ["Job", "Remains", "Surroundings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something that will start by itself."""

    name: str
    due_s: float
    """Seconds until then; negative when it is overdue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """A race's folder that is still there."""

    folder: Path
    pids: tuple[int, ...] = ()
    """The processes that work in it."""
    guarded: bool = False
    """Whether its supervisor lives, so that the race is under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A machine before a race."""

    host: HostFacts
    plan: Preparation
    """What the checks before a race look at."""
    watched: MachineDelta
    """What the machine did for two seconds without us."""
    speed_spread: float | None = None
    """How much faster its fastest moments were than its slowest: 0.3 is 30 %. None when unknown."""
    offenders: tuple[Offender, ...] = ()
    """Who used it most."""
    load_average: float = 0.0
    settings: Mapping[str, str] = field(default_factory=dict)
    """Kernel settings as ``Kernel.read`` has them, by key."""
    governors: tuple[str, ...] = ()
    """The keys, in ``settings``, of the frequency governors: one for each group of cores."""
    memory_free_bytes: float
    swap_bytes: int = 0
    swap_used_bytes: int = 0
    disk: Path = Path("/tmp")
    """Where races run."""
    disk_bytes: int
    """The size of the file system of ``disk``."""
    disk_free_bytes: int
    """What is free there."""
    allowed_cores: float = float("inf")
    """A control group's CPU quota, in cores; infinite without one."""
    delegated: bool | None = None
    """Whether control groups below ours may be made; None where there is no version 2 of them."""
    clocks: tuple[str, ...] = ()
    """The clock sources that the kernel could use."""
    daemons: frozenset[str] = frozenset()
    """The names of running processes."""
    jobs: tuple[Job, ...] = ()
    """What systemd's timers will start within an hour."""
    remains: tuple[Remains, ...] = ()
    """The folders of races that are under way, and of those that left theirs."""
    listeners: Mapping[int, str] = field(default_factory=dict)
    """Who listens on ports that examples use."""

    @property
    def foreign_share(self) -> float:
        """The share of the machine that others used meanwhile."""
        watched = self.watched
        share = (watched.busy_s - watched.own_s) / watched.capacity_s if watched.capacity_s > 0 else 0.0
        return max(0.0, share)
