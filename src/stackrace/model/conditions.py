"""What the machine did while a slice was measured, as far as it touched the stacks' cores."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Conditions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The stacks' cores during one slice.

    ``elapsed_s`` is how long they were watched, ``cores`` how many they are. ``stolen_s`` is the CPU time that the
    hypervisor gave to others, ``foreign_s`` that of processes outside the race; both are sums over these cores.
    ``foreign_s`` is what remains of the cores' busy time without the stack, the other stacks and ourselves. So it
    carries the errors of all of them, and may be a little below 0.

    The canary is a fixed piece of work: its CPU time on these cores before and after the slice, in nanoseconds.
    None where it could not run.
    """

    elapsed_s: float
    cores: int
    stolen_s: float
    foreign_s: float
    canary_before_ns: float | None = None
    canary_after_ns: float | None = None

    @property
    def taken(self) -> float:
        """The share of the stacks' cores that others had, stolen and foreign together; 0 when nobody watched."""
        capacity_s = self.elapsed_s * self.cores
        return (self.stolen_s + self.foreign_s) / capacity_s if capacity_s > 0 else 0.0
