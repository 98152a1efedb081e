"""Which stacks are up at once: all of them where the machine's memory allows it, a batch at a time otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..stacks.stack import original_path
from ..validity import MEMORY_SHARE

__all__ = ["Memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What memory may be used, and what stacks use."""

    room_bytes: float = math.inf
    """What the place had to spare with no stack up."""
    known: Mapping[str, int] = field(default_factory=dict)
    """The largest size of each stack so far, in bytes by path, a twin's under its original's."""
    bound_bytes: int | None = None
    """What each stack may have at most, None for no limit."""
    alone: frozenset[str] = frozenset()
    """The stacks, by path, of which only one can be up, since they write to the same places."""

    def fits(self, up: Sequence[str], another: str) -> bool:
        """Tell whether ``another`` may be launched beside those that are ``up``, all by path.

        A stack that has its limit may come to use all of it. One that was never seen counts as the largest of those
        that were. A stack alone always fits: there is no smaller batch. Beside one of ``alone`` no other one does.
        """
        if self._is_alone(another) and any(map(self._is_alone, up)):
            return False
        return not up or sum(map(self._size, (*up, another))) <= MEMORY_SHARE * self.room_bytes

    def batch_size(self, stacks: Sequence[str]) -> int:
        """Return how many of ``stacks`` to have up at once, so that all batches are about equally large."""
        batches, up = 1, list[str]()
        for stack in stacks:
            if not self.fits(up, stack):
                batches, up = batches + 1, []
            up.append(stack)
        return math.ceil(len(stacks) / batches)

    def _is_alone(self, path: str) -> bool:
        return original_path(path) in self.alone

    def _size(self, path: str) -> int:
        if self.bound_bytes is not None:
            return self.bound_bytes
        return self.known.get(original_path(path), max(self.known.values(), default=0))
