"""What the machine is: its system, its cores, its memory."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ...base.errors import InputError
from ..host import HostFacts
from ..resources import parse_cores
from .limits import kernel_limits
from .proc import read

__all__ = ["available_bytes", "host_facts", "kept_off", "memory_bytes", "physical_cores"]


def host_facts() -> HostFacts:
    """Ask the machine what it is; ``cores`` are those we may run on, ``virtual`` is empty on bare metal."""
    cpuinfo = _text("/proc/cpuinfo")
    return HostFacts(
        system=_system(_text("/etc/os-release") or _text("/usr/lib/os-release")),
        kernel=platform.release(),
        cpu=_cpu(cpuinfo),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        virtual=_virtual(cpuinfo),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        limits=kernel_limits(),
    )


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def _system(os_release: str) -> str:
    """Source: os-release(5), PRETTY_NAME."""
    for line in os_release.splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip().strip("\"'")
    return platform.system()


def _cpu(cpuinfo: str) -> str:
    """The model's name where the architecture has one, else the architecture."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "cpu model"):
            return " ".join(value.split())
    return platform.machine()


def _virtual(cpuinfo: str) -> str:
    """A hint, never proof: "container", "virtual machine", "container in a virtual machine" or nothing."""
    guest = _text("/sys/hypervisor/type") or any(
        line.startswith("flags") and "hypervisor" in line.split() for line in cpuinfo.splitlines()
    )
    marks = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
    contained = any(Path(mark).exists() for mark in marks)
    return " in a ".join(
        word for word, applies in (("container", contained), ("virtual machine", guest)) if applies
    )


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
