"""Did connections fail because this machine had no port or no file descriptor left for them?"""

from __future__ import annotations

from ..model.verdict import Finding
from .judge import count, judge
from .observation import Observation

__all__ = ["MORE_FILES", "MORE_PORTS", "descriptors_exhausted", "ports_exhausted"]

MORE_PORTS = "sysctl net.ipv4.ip_local_port_range='1024 65535' net.ipv4.tcp_tw_reuse=2"
MORE_FILES = "raise `ulimit -n`, and nofile in /etc/security/limits.conf, which bounds it"


def ports_exhausted(seen: Observation) -> Finding | None:
    """A connection could not be opened because every local port was in use (EADDRNOTAVAIL): any invalidates.

    The client then waits for its own ports, and the server is measured at what is left.

    Source: connect(2), EADDRNOTAVAIL; Documentation/networking/ip-sysctl.rst, ip_local_port_range, tcp_tw_reuse.
    """
    failed = seen.result.ports_exhausted
    return judge(
        "ports exhausted",
        failed,
        invalidates=0,
        seen=f"{count(failed)} connections could not be opened: the load engine had no local port left",
        remedy=f"{MORE_PORTS}; or lower {seen.words.concurrency} ({seen.load.concurrency})"
        if seen.load.keep_alive
        else f"{seen.words.keep}; or {MORE_PORTS}",
        unit=count,
    )


def descriptors_exhausted(seen: Observation) -> Finding | None:
    """A connection could not be opened because a limit on open files was reached (EMFILE, ENFILE): any invalidates.

    Source: socket(2), EMFILE and ENFILE; getrlimit(2), RLIMIT_NOFILE.
    """
    failed = seen.result.files_exhausted
    return judge(
        "descriptors exhausted",
        failed,
        invalidates=0,
        seen=f"{count(failed)} connections could not be opened: the load engine had no file descriptor left",
        remedy=f"{MORE_FILES}; or lower {seen.words.concurrency} ({seen.load.concurrency})",
        unit=count,
    )
