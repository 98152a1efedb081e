"""Which of the machine's logical CPUs are threads of one core, and on which of them we run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...base.core_lists import parse_cores
from ...base.errors import InputError

__all__ = ["kept_off", "physical_cores"]

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


@contextmanager
def kept_off(cores: Iterable[int]) -> Iterator[None]:
    """Keep this thread, and those that it starts, off some cores, where others are left to it."""
    allowed = os.sched_getaffinity(0)
    if others := allowed.difference(cores):
        os.sched_setaffinity(0, others)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
