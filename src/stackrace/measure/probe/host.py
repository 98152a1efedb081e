"""What the machine is."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from ..host import HostFacts
from .limits import kernel_limits

__all__ = ["host_facts"]


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
