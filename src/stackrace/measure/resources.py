"""What a stack and the load engine may use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Enforcement", "Resources"]


class Enforcement(StrEnum):
    """What holds a stack to its resources."""

    CGROUP = "control group"
    """The kernel: cgroup v2, cpuset and memory.max; what exceeds its memory is ended."""
    AFFINITY = "affinity"
    """Processes are bound to their cores, and each by itself has the memory as a resource limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What every stack may use, the same for all, and what the load engine may."""

    stack_cores: tuple[int, ...]
    """The cores that a stack's processes may run on."""
    generator_cores: tuple[int, ...]
    """The load engine's."""
    memory_bytes: int | None = None
    """What each stack may hold; None where nothing bounds it."""
    enforced: Enforcement = Enforcement.AFFINITY
    """What holds the stacks to it."""
    quota: bool = False
    """Whether a CPU quota on all of this is declared to be meant."""

    @property
    def shared(self) -> bool:
        """Whether generator and stacks compete for a core."""
        return bool(set(self.stack_cores) & set(self.generator_cores))
