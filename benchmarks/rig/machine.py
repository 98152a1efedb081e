"""This machine: its cores, its limits, and what must be installed for a benchmark to mean anything."""

from __future__ import annotations

import os
import resource
import shutil
import sys
import time
from pathlib import Path

_TIME_WAIT = "06"
_LISTEN = "0A"


def cores() -> tuple[int, int]:
    """Return the core for the server and the core for the generator; the same one where there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


def require(*tools: str) -> None:
    """End with "skipped: …" and status 0 unless there are two cores and every one of ``tools``."""
    reasons = [f"needs {tool}" for tool in tools if shutil.which(tool) is None]
    if len(os.sched_getaffinity(0)) < 2:
        reasons.append("needs two cores, one for the server and one for the generator")
    if reasons:
        print(f"skipped: {'; '.join(reasons)}")
        sys.exit(0)


def raise_file_limit() -> int:
    """Let this process and its children open as many files as it may; return how many."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def await_quiet(address: str) -> None:
    """Return once no connection to ``address`` is open any more, or after 5 seconds.

    What closes the connections of the last generator is no part of the next one's run. Source: proc_net(5).
    """
    port = f":{int(address.rpartition(':')[2]):04X}"
    for _ in range(50):
        lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
        fields = (line.split() for line in lines)
        if not any(field[1].endswith(port) and field[3] not in (_TIME_WAIT, _LISTEN) for field in fields):
            return
        time.sleep(0.1)
