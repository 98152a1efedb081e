"""Everything the checks may look at, for one launch as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..measure.launch import Launch, Slice
from ..stacks.stack import Stack
from .aftermath import Aftermath

__all__ = ["LaunchView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchView:
    """A launch that is over: what was launched, what was measured on it, and how it ended."""

    stack: Stack
    launch: Launch
    aftermath: Aftermath = field(default_factory=Aftermath)

    @property
    def levels(self) -> dict[tuple[str, str], tuple[Slice, ...]]:
        """Its slices by workload and load, in order of time."""
        levels: dict[tuple[str, str], tuple[Slice, ...]] = {}
        for measured in self.launch.slices:
            level = (measured.workload, measured.load.label)
            levels[level] = (*levels.get(level, ()), measured)
        return levels

    def loaded_s(self, at_s: float) -> float:
        """Return for how long the stack had been measured at ``at_s``, counted from the launch's start."""
        moment_s = self.aftermath.started_s + at_s
        return sum(
            min(max(moment_s - result.started_at, 0.0), result.duration_s)
            for result in (measured.result for measured in self.launch.slices)
        )
