"""How much memory the machine has to spare."""

from __future__ import annotations

import math

from .proc import read

__all__ = ["available_bytes"]


def available_bytes() -> float:
    """Return the memory that new processes could use without swapping; infinity where the kernel does not tell.

    Source: proc_meminfo(5), MemAvailable (since Linux 3.14).
    """
    for line in (read("/proc/meminfo") or b"").splitlines():
        if line.startswith(b"MemAvailable:"):
            return float(int(line.split()[1]) * 1024)
    return math.inf
