"""Which of the machine's logical CPUs are threads of one and the same core."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..model.core_lists import parse_cores
from ..model.errors import InputError

__all__ = ["physical_cores"]

_CPUS = Path("/sys/devices/system/cpu")


def physical_cores(usable: Iterable[int], folder: Path = _CPUS) -> tuple[tuple[int, ...], ...]:
    """Return ``usable``, ascending, grouped by the core that executes them.

    Where the kernel does not tell, as in some containers and virtual machines, each is a core of its own.

    Source: Documentation/admin-guide/cputopology.rst, ``thread_siblings_list``.
    """
    left = set(usable)
    cores = []
    for cpu in sorted(left):
        if cpu in left:
            threads = {cpu, *_siblings(folder / f"cpu{cpu}" / "topology" / "thread_siblings_list")} & left
            left -= threads
            cores.append(tuple(sorted(threads)))
    return tuple(cores)


def _siblings(file: Path) -> tuple[int, ...]:
    try:
        return parse_cores(file.read_text(encoding="ascii").strip())
    except (OSError, ValueError, InputError):
        return ()
