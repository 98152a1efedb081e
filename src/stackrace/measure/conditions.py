"""What the machine did while a slice was measured, as far as it touched the stacks' cores."""

from __future__ import annotations

from dataclasses import dataclass, field

from .load import SIGNED

__all__ = ["Conditions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What the machine did to the stacks' cores during one slice.

    ``foreign_s`` is what remains of the cores' busy time without the stack, the other stacks and ourselves. So it
    carries the errors of all of them.
    """

    elapsed_s: float
    """How long the cores were watched, in seconds."""
    cores: int
    """How many cores the stacks have."""
    stolen_s: float
    """CPU seconds of these cores that the hypervisor gave to others."""
    foreign_s: float = field(metadata=SIGNED)
    """CPU seconds of processes outside the race on these cores; errors may bring it a little below 0."""
    canary_before_ns: float | None = None
    """Nanoseconds that a fixed piece of work on these cores took before the slice; null where it could not run."""
    canary_after_ns: float | None = None
    """The same after the slice."""

    @property
    def taken(self) -> float:
        """The share of the stacks' cores that others had, stolen and foreign together; 0 when nobody watched."""
        capacity_s = self.elapsed_s * self.cores
        return (self.stolen_s + self.foreign_s) / capacity_s if capacity_s > 0 else 0.0
