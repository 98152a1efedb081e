"""The machines of a cluster: what each is for, what it is, and how its clock differs from ours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ClockOffset", "Member", "Role"]


class Role(StrEnum):
    """What a member offers; it says so by a Dask resource of the same name."""

    STACK = "stack"
    """It hosts a stack, with what that needs."""
    ENGINE = "engine"
    """It sends load."""
    SERVICE = "service"
    """It hosts a database, or another service of the app."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """How a member's CLOCK_MONOTONIC differs from the coordinator's."""

    offset_s: float
    """The member's clock minus ours, in seconds."""
    error_s: float
    """The offset is off by no more than this: half of the shortest round trip."""
    round_trip_s: float
    """The shortest round trip to the member and back, in seconds, what carries it included."""
    taken_s: float
    """When it was estimated, on our own clock."""

    def there(self, ours_s: float) -> float:
        """Return what the member's clock shows when ours shows ``ours_s``."""
        return ours_s + self.offset_s

    def ours(self, there_s: float) -> float:
        """Return what our clock shows when the member's shows ``there_s``."""
        return there_s - self.offset_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A machine of the cluster, as it describes itself."""

    name: str
    """The worker's name, unique in the cluster."""
    contact: str
    """Where its worker is reached: ``tcp://10.0.0.3:34781``."""
    host: str
    """Its network address."""
    roles: frozenset[Role]
    version: str
    """Of stackrace."""
    python: str
    kernel: str
    cpu: str
    """CPU model."""
    cores: tuple[int, ...]
    """Those that it may use, by number."""
    memory_bytes: int
    machine: str
    """The same for all workers that share a kernel."""
    clock: ClockOffset | None = None
    """None where nobody compared it yet."""

    def shares_machine(self, other: Member) -> bool:
        """Tell whether both are on one machine, whatever their addresses: one kernel, and a core in common."""
        return self.machine == other.machine and bool(set(self.cores) & set(other.cores))
