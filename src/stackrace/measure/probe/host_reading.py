"""Facts about the machine (system, cores, memory), its limits and its control groups."""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ...base.errors import InputError
from ...base.process.processes import read, read_number
from ...base.unix import resource
from ..host import HostFacts, NetworkLimits
from ..resources import parse_cores


def host_facts() -> HostFacts:
    """Return facts about the machine, as far as this process may use it: its cores, and its memory in a group."""
    cpuinfo = _text_or_empty("/proc/cpuinfo")
    return HostFacts(
        system=_system(_text_or_empty("/etc/os-release") or _text_or_empty("/usr/lib/os-release")),
        kernel=platform.release(),
        cpu=_cpu(cpuinfo),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=_memory_bytes(),
        virtual=_virtual(cpuinfo),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        limits=_kernel_limits(),
    )


def _text_or_empty(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def _system(os_release: str) -> str:
    """Return the name of the operating system. Source: os-release(5), PRETTY_NAME."""
    for line in os_release.splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip().strip("\"'")
    return platform.system()


def _cpu(cpuinfo: str) -> str:
    """Return the CPU's model if the architecture names one, else the architecture."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "cpu model"):
            return " ".join(value.split())
    return platform.machine()


def _virtual(cpuinfo: str) -> str:
    """Return "container", "virtual machine", "container in a virtual machine" or nothing: a hint, never proof."""
    guest = _text_or_empty("/sys/hypervisor/type") or any(
        line.startswith("flags") and "hypervisor" in line.split() for line in cpuinfo.splitlines()
    )
    marks = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container", "/run/secrets/kubernetes.io")
    contained = any(Path(mark).exists() for mark in marks)
    return " in a ".join(
        word for word, applies in (("container", contained), ("virtual machine", guest)) if applies
    )


def virtualisation() -> str:
    """Return the kind of virtualisation of this machine; empty on bare metal."""
    return _virtual(_text_or_empty("/proc/cpuinfo"))


def emulator() -> str:
    """Return the program that emulates the processor; empty for a real one, or if it does not show."""
    return _emulator(_text_or_empty("/proc/cpuinfo"), platform.machine())


def _emulator(cpuinfo: str, machine: str) -> str:
    """Return the emulator that shows in ``cpuinfo`` to a process for ``machine``.

    Rosetta and QEMU's own processor have names; on ARM, QEMU's has the implementer 0, which stands for software.
    Where QEMU runs single programs, as Docker does with images for another architecture, the file is often the real
    processor's.
    """
    names = {line.partition(":")[0].strip() for line in cpuinfo.splitlines()}
    if re.search(r"^(vendor_id|model name)\s*: VirtualApple", cpuinfo, re.MULTILINE):
        return "Rosetta"
    is_another = ("CPU implementer" in names) if machine == "x86_64" else machine == "aarch64" and "flags" in names
    own = re.search(r"^(model name\s*: QEMU TCG|CPU implementer\s*: 0x0+$)", cpuinfo, re.MULTILINE)
    return "QEMU" if is_another or own else ""


_CPUS = Path("/sys/devices/system/cpu")


def physical_cores(usable: Iterable[int], folder: Path = _CPUS) -> tuple[tuple[int, ...], ...]:
    """Return ``usable``, ascending, grouped by the core that executes them.

    If the kernel does not report this, as in some containers and virtual machines, each CPU is a core of its own.

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
def excluded_cores(cores: Iterable[int]) -> Iterator[None]:
    """Keep this thread, and the threads that it starts, off ``cores`` if it may use any others."""
    allowed = os.sched_getaffinity(0)
    if others := allowed.difference(cores):
        os.sched_setaffinity(0, others)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def memory_bytes() -> Mapping[str, int]:
    """Return the kernel's figures for memory and swap in bytes, by the kernel's names; empty if there are none.

    Source: proc_meminfo(5).
    """
    lines = (read("/proc/meminfo") or b"").decode(errors="replace").splitlines()
    pairs = (line.split() for line in lines)
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in pairs if len(words) == 3}


def available_bytes() -> float:
    """Return the memory that new processes could use without swapping; infinity if the kernel does not report it.

    A limit of our control group, or of one around it, leaves what the group does not hold yet; memory that only
    keeps files can be taken back. Source: proc_meminfo(5), MemAvailable (since Linux 3.14); cgroup-v2.rst,
    memory.max; cgroup-v1/memory.rst.
    """
    left = min(map(_left_in, _groups("memory")), default=math.inf)
    return min(memory_bytes().get("MemAvailable", math.inf), left)


def _memory_bytes() -> int:
    """Return the memory of the machine, or the limit of our control group or of one around it if that is less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(min([machine, *map(_memory_limit, _groups("memory"))]))


def _memory_limit(group: str) -> float:
    limit = (read(f"{group}/memory.max") or read(f"{group}/memory.limit_in_bytes") or b"").strip()
    return int(limit) if limit.isdigit() else math.inf  # "max"


def _left_in(group: str) -> float:
    limit = _memory_limit(group)
    held = (read(f"{group}/memory.current") or read(f"{group}/memory.usage_in_bytes") or b"").strip()
    if limit == math.inf or not held.isdigit():
        return math.inf
    words = (line.split() for line in (read(f"{group}/memory.stat") or b"").splitlines())
    kept = {name: int(value) for name, value in words}
    files = kept.get(b"total_inactive_file", kept.get(b"inactive_file", 0))
    return max(limit - int(held) + files, 0)


_SYSCTLS = (
    "fs.file-max",
    "fs.nr_open",
    "kernel.pid_max",
    "kernel.threads-max",
    "net.core.netdev_max_backlog",
    "net.core.somaxconn",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_tw_reuse",
    "vm.overcommit_memory",
    "vm.swappiness",
)

_IN_TIME_WAIT = re.compile(rb"^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 06 ", re.MULTILINE)
"""Pattern of a connection in TIME_WAIT in /proc/net/tcp and tcp6; the group is its local port."""


def network_limits() -> NetworkLimits:
    """Return the kernel's limits; a limit called unlimited is 2^31 − 1 here."""
    soft, hard = _descriptors()
    low, high = _port_range()
    return NetworkLimits(
        descriptors=soft,
        descriptors_hard=hard,
        ephemeral_ports=high - low + 1,
        time_wait=_held_ports(low, high),
        tw_reuse=_sysctl("net.ipv4.tcp_tw_reuse") or 0,
        accept_queue=_sysctl("net.core.somaxconn") or 4096,
    )


def _kernel_limits() -> dict[str, int]:
    """Return the limits that a report shows, by sysctl or rlimit name; limits unknown here are left out.

    A range is two numbers, ``…ip_local_port_range.low`` and ``.high``; a hard limit is
    ``RLIMIT_NOFILE.hard``.
    """
    limits = {name: value for name in _SYSCTLS if (value := _sysctl(name)) is not None}
    soft, hard = _descriptors()
    low, high = _port_range()
    return limits | {
        "RLIMIT_NOFILE": soft,
        "RLIMIT_NOFILE.hard": hard,
        "net.ipv4.ip_local_port_range.low": low,
        "net.ipv4.ip_local_port_range.high": high,
    }


def _held_ports(low: int, high: int) -> int:
    """Return the number of ephemeral ports that connections in TIME_WAIT hold.

    A server that closed first also leaves such connections, thousands under its one port, but they hold no port
    of the client. So distinct local ports are counted. Source: proc_net_tcp(5), state 06.
    """
    tables = ("/proc/net/tcp", "/proc/net/tcp6")
    held = {port for table in tables for port in _IN_TIME_WAIT.findall(read(table) or b"")}
    return sum(low <= int(port, 16) <= high for port in held)


def _descriptors() -> tuple[int, int]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _bounded(soft), _bounded(hard)


def _bounded(limit: int) -> int:
    return 2**31 - 1 if limit == resource.RLIM_INFINITY else limit


def _port_range() -> tuple[int, int]:
    words = (read("/proc/sys/net/ipv4/ip_local_port_range") or b"32768 60999").split()
    return int(words[0]), int(words[1])


def _sysctl(name: str) -> int | None:
    path = Path("/proc/sys", *name.split("."))
    return read_number(str(path)) if path.exists() else None


_V2 = "/sys/fs/cgroup"
_HYBRID = "/sys/fs/cgroup/unified"


def throttled_s() -> float:
    """Return the seconds for which a CPU quota throttled our control group or a group around it; 0 without a quota.

    A quota counts where it was set, so the groups around ours are read, too; the longest stop counts. The kernel
    adds up the stops of all cores.
    Source: cgroup-v2.rst, cpu.stat ``throttled_usec``; version 1 calls it ``throttled_time``, in nanoseconds.
    """
    return max((_throttled_in(f"{group}/cpu.stat") for group in _groups("cpu")), default=0.0)


def _throttled_in(path: str) -> float:
    for line in (read(path) or b"").splitlines():
        name, _, value = line.partition(b" ")
        if name == b"throttled_usec":
            return int(value) / 1e6
        if name == b"throttled_time":
            return int(value) / 1e9
    return 0.0


def allowed_cores() -> float:
    """Return the number of cores that the strictest CPU quota around us grants; infinite without a quota.

    Source: cgroup-v2.rst, cpu.max; sched-bwc.rst, cpu.cfs_quota_us and cpu.cfs_period_us.
    """
    return min((_quota_of(group) for group in _groups("cpu")), default=math.inf)


def _quota_of(group: str) -> float:
    words = (read(f"{group}/cpu.max") or b"").split() or [
        *(read(f"{group}/cpu.cfs_quota_us") or b"").split(),
        *(read(f"{group}/cpu.cfs_period_us") or b"").split(),
    ]
    if len(words) != 2 or not words[0].isdigit() or not words[1].isdigit():
        return math.inf  # "max" or -1
    return int(words[0]) / int(words[1])


def _groups(controller: str) -> Iterator[str]:
    """Yield the folders of our group and of the groups around it, in either version of control groups."""
    yield from _group_files(_V2, _path("0"))
    if group := _path(controller):
        yield from _group_files(f"{_V2}/{controller}", group)


def _group_files(top: str, group: str) -> Iterator[str]:
    while group.strip("/"):
        yield f"{top}{group.rstrip('/')}"
        group = group.rstrip("/").rpartition("/")[0]
    yield top


def _path(hierarchy: str) -> str:
    """Return our group in version 2 (``0``) or with this controller in version 1, else "". Source: cgroups(7)."""
    for line in (read("/proc/self/cgroup") or b"").decode(errors="replace").splitlines():
        number, controllers, group = line.split(":", 2)
        if hierarchy in (number, *controllers.split(",")):
            return group
    return ""


def delegated() -> bool | None:
    """Return True if we may make control groups below ours; None if version 2 is not mounted.

    Source: cgroup-v2.rst, "Delegation": the folder, its ``cgroup.procs`` and ``cgroup.subtree_control`` are ours.
    """
    group = _path("0").rstrip("/")
    for top in (_V2, _HYBRID):
        if os.path.exists(f"{top}/cgroup.controllers"):  # noqa: PTH110 (strings all through)
            files = ("", "/cgroup.procs", "/cgroup.subtree_control")
            useful = {b"memory", b"cpuset"} <= set((read(f"{top}{group}/cgroup.controllers") or b"").split())
            return useful and all(os.access(f"{top}{group}{name}", os.W_OK) for name in files)
    return None
