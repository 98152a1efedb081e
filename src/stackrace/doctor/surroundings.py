"""Everything the advice may look at: the machine at rest, seen from all sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..checks import Preparation
from ..model.host import HostFacts, MachineDelta

__all__ = ["Job", "Offender", "Remains", "Surroundings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offender:
    """A process that is not ours, and the share of one core that it used."""

    pid: int
    name: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something that will start by itself in ``due_s`` seconds; negative when it is overdue."""

    name: str
    due_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """A race's folder: ``pids`` work in it; it is under way where its supervisor lives (``guarded``)."""

    folder: Path
    pids: tuple[int, ...] = ()
    guarded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A machine before a race.

    ``plan`` is what the checks before a race look at, ``watched`` what the machine did for two seconds without us,
    ``speed_spread`` how much faster its fastest moments were than its slowest (0.3 is 30 %, None unknown), and
    ``offenders`` who used it most. ``settings`` are kernel settings as ``Kernel.read`` has them, by key.
    ``allowed_cores`` is a control group's CPU quota, infinite without one; ``delegated`` whether control groups
    below ours may be made, None where there is no version 2 of them. ``daemons`` are names of running processes.
    ``disk_free_bytes`` of ``disk_bytes`` are left where races run (``disk``). ``listeners`` maps ports that
    examples use to who listens.
    """

    host: HostFacts
    plan: Preparation
    watched: MachineDelta
    speed_spread: float | None = None
    offenders: tuple[Offender, ...] = ()
    load_average: float = 0.0
    settings: Mapping[str, str] = field(default_factory=dict)
    governors: tuple[str, ...] = ()
    memory_free_bytes: float
    swap_bytes: int = 0
    swap_used_bytes: int = 0
    disk: Path = Path("/tmp")
    disk_bytes: int
    disk_free_bytes: int
    allowed_cores: float = float("inf")
    delegated: bool | None = None
    clocks: tuple[str, ...] = ()
    daemons: frozenset[str] = frozenset()
    jobs: tuple[Job, ...] = ()
    remains: tuple[Remains, ...] = ()
    listeners: Mapping[int, str] = field(default_factory=dict)

    @property
    def foreign_share(self) -> float:
        """The share of the machine that others used meanwhile."""
        watched = self.watched
        share = (watched.busy_s - watched.own_s) / watched.capacity_s if watched.capacity_s > 0 else 0.0
        return max(0.0, share)
