"""What the kernel allows us: file descriptors, ports, queues."""

from __future__ import annotations

import re
import resource
from pathlib import Path

from ..host import NetworkLimits
from .proc import read, read_number

__all__ = ["kernel_limits", "network_limits"]

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
"""The local port of such a connection in /proc/net/tcp and tcp6."""


def network_limits() -> NetworkLimits:
    """Ask the kernel; a limit called unlimited is 2^31 − 1 here."""
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


def kernel_limits() -> dict[str, int]:
    """Return the limits worth a place in a report, by sysctl or rlimit name; those unknown here are left out.

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
    """Count the ephemeral ports that connections in TIME_WAIT hold.

    A server that closed first also leaves such connections, thousands under its one port, which hold none of the
    client's: so distinct local ports count. Source: proc_net_tcp(5), state 06.
    """
    tables = ("/proc/net/tcp", "/proc/net/tcp6")
    held = {port for table in tables for port in _IN_TIME_WAIT.findall(read(table) or b"")}
    return sum(low <= int(port, 16) <= high for port in held)


def _descriptors() -> tuple[int, int]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _finite(soft), _finite(hard)


def _finite(limit: int) -> int:
    return 2**31 - 1 if limit == resource.RLIM_INFINITY else limit


def _port_range() -> tuple[int, int]:
    words = (read("/proc/sys/net/ipv4/ip_local_port_range") or b"32768 60999").split()
    return int(words[0]), int(words[1])


def _sysctl(name: str) -> int | None:
    path = Path("/proc/sys", *name.split("."))
    return read_number(str(path)) if path.exists() else None
