"""Variants of one stack side by side: two versions of an app, or a stack and its exported files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..measure.host import Disturbance
from ..measure.launch import Failure
from ..measure.load import Load
from ..measure.workload import Workload
from ..stacks.stack import Side, Stack, side_of, side_path
from ..validity import Observation
from .place import Enough, Launched, Place, Retired, Retiring

__all__ = ["SidePlace", "Sides"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SidePlace:
    """Where one variant runs."""

    place: Place
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    """Its own workloads by name, since its right answers may differ; one that is not here is the race's."""


class Sides:
    """A place of several: each stack goes to that of its side, under its plain name."""

    def __init__(self, sides: Mapping[Side, SidePlace]) -> None:
        self._sides = sides

    def calibrate(self, loads: Sequence[Load]) -> None:
        """Measure the engine's ceiling once for each side."""
        for each in self._sides.values():
            each.place.calibrate(loads)

    def room_bytes(self) -> float:
        """Return the memory that stacks could still be given: they share one machine."""
        return min(each.place.room_bytes() for each in self._sides.values())

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """Start ``stack`` on its side's place; see ``Place.launch``."""
        launched = self._of(stack).place.launch(stack.plain, timeout_s)
        if launched.facts is None:
            return launched
        return replace(launched, facts=replace(launched.facts, stack=stack.path))

    def rest(self, limit_s: float = math.inf) -> None:
        """Let the stacks of all sides come to rest."""
        for each in self._sides.values():
            each.place.rest(limit_s)

    def load(
        self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float = math.inf
    ) -> Observation:
        """Send the side's own form of ``workload``; see ``Place.load``."""
        side = self._of(stack)
        own = side.workloads.get(workload.name, workload)
        return replace(side.place.load(stack.plain, own, load, rewarm_s, limit_s), stack=stack)

    def warm_up(self, stack: Stack, workload: Workload, load: Load, enough: Enough) -> float:
        """Send the side's own form of ``workload``, unrecorded; see ``Place.warm_up``."""
        side = self._of(stack)
        return side.place.warm_up(stack.plain, side.workloads.get(workload.name, workload), load, enough)

    def disturbance(self) -> Disturbance:
        """Look at the machine that the sides share."""
        return next(iter(self._sides.values())).place.disturbance()

    def failure_of(self, stack: Stack) -> Failure | None:
        """Tell whether ``stack`` died since it was launched."""
        return self._of(stack).place.failure_of(stack.plain)

    def retire(self, stacks: Sequence[Stack]) -> Retiring:
        """Begin to stop ``stacks`` on the places of their sides."""
        return _RetiringSides(
            {
                side: each.place.retire([stack.plain for stack in stacks if side_of(stack.path) is side])
                for side, each in self._sides.items()
            }
        )

    def _of(self, stack: Stack) -> SidePlace:
        side = side_of(stack.path)
        assert side is not None
        return self._sides[side]


class _RetiringSides:
    """Stacks of several sides on their way down."""

    def __init__(self, sides: Mapping[Side, Retiring]) -> None:
        self._sides = sides

    def finish(self) -> Retired:
        """Wait until all are gone."""
        gone = {side: retiring.finish() for side, retiring in self._sides.items()}
        return Retired(
            memory=_joined({side: each.memory for side, each in gone.items()}),
            complaints=_joined({side: each.complaints for side, each in gone.items()}),
            aftermaths=_joined({side: each.aftermaths for side, each in gone.items()}),
            took_s=max((each.took_s for each in gone.values()), default=0.0),
        )


def _joined(by_side: Mapping[Side, Mapping[str, _T]]) -> dict[str, _T]:
    return {side_path(path, side): it for side, by_path in by_side.items() for path, it in by_path.items()}
