"""How much memory the machine has, and has to spare."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .proc import read

__all__ = ["available_bytes", "memory_bytes"]


def memory_bytes() -> Mapping[str, int]:
    """Return what the kernel tells of memory and swap, by its own names; empty where it does not tell.

    Source: proc_meminfo(5).
    """
    lines = (read("/proc/meminfo") or b"").decode(errors="replace").splitlines()
    pairs = (line.split() for line in lines)
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in pairs if len(words) == 3}


def available_bytes() -> float:
    """Return the memory that new processes could use without swapping; infinity where the kernel does not tell.

    Source: proc_meminfo(5), MemAvailable (since Linux 3.14).
    """
    return memory_bytes().get("MemAvailable", math.inf)
