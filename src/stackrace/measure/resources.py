"""Resources of the stacks and the load engine, and lists of cores as the kernel and people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..base.errors import InputError

_PART = re.compile(r"\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?", re.ASCII)


def parse_cores(text: str) -> tuple[int, ...]:
    """Return the cores listed in ``text``, ascending, each once; raise InputError if it is no list of cores.

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
    """Return ``cores`` as a list with ranges, such as 0-3,5; ascending, empty for none."""
    spans: list[list[int]] = []
    for core in sorted(set(cores)):
        if spans and core == spans[-1][1] + 1:
            spans[-1][1] = core
        else:
            spans.append([core, core])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


class Enforcement(StrEnum):
    """Mechanism that limits a stack to its resources."""

    CGROUP = "control group"
    """The kernel: cgroup v2 with cpuset and memory.max. A process that exceeds the memory is killed."""
    AFFINITY = "affinity"
    """Processes are bound to their cores; the memory is a resource limit of each process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Resources of every stack, the same for all, and of the load engine."""

    stack_cores: tuple[int, ...]
    """Cores that a stack's processes may run on."""
    generator_cores: tuple[int, ...]
    """Cores that the load engine may run on."""
    memory_bytes: int | None = None
    """Memory that each stack may hold, in bytes; None if unlimited."""
    enforced: Enforcement = Enforcement.AFFINITY
    """Mechanism that limits the stacks."""
    quota: bool = False
    """True if the user declared a CPU quota as intended."""

    @property
    def shared(self) -> bool:
        """True if generator and stacks share a core."""
        return bool(set(self.stack_cores) & set(self.generator_cores))
