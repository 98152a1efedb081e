"""Stacks on their way down."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..measure.launch import MemorySample
from .guard import Guard
from .inspection import Inspection
from .place import Retired
from .running import Running
from .sockets import listeners
from .stopping import stop

__all__ = ["StoppingStack", "retired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingStack:
    """A stack that is to stop, and what was seen of it while it was up."""

    running: Running
    inspection: Inspection
    memory: Sequence[MemorySample]

    @property
    def path(self) -> str:
        """The stack's path."""
        return self.running.stack.path


def retired(guard: Guard, stacks: Sequence[StoppingStack]) -> Retired:
    """Stop ``stacks`` and return what became of them, once all are gone."""
    begun_s = time.monotonic()
    complaints = stop(guard, [stack.running for stack in stacks])
    listening = listeners()
    return Retired(
        memory={stack.path: tuple(stack.memory) for stack in stacks},
        complaints=complaints,
        aftermaths={stack.path: stack.inspection.afterwards(guard, stack.running, listening) for stack in stacks},
        took_s=time.monotonic() - begun_s,
    )
