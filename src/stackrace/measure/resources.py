"""What a stack and the load engine may use, and lists of cores as the kernel and people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..base.errors import InputError

_PART = re.compile(r"\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?", re.ASCII)


def parse_cores(text: str) -> tuple[int, ...]:
    """Return the cores that ``text`` lists, ascending and each once; raises InputError with a right spelling.

    Source: cpuset(7), "List format".
    """
    cores: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first:
            raise InputError(f"{text!r} is not a list of cores; write it like 0-3 or 0,2,4-6")
        cores.update(range(first, last + 1))
    return tuple(sorted(cores))


def format_cores(cores: Iterable[int]) -> str:
    """Return ``cores`` as a list with ranges, ascending; empty for none."""
    spans: list[list[int]] = []
    for core in sorted(set(cores)):
        if spans and core == spans[-1][1] + 1:
            spans[-1][1] = core
        else:
            spans.append([core, core])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


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
