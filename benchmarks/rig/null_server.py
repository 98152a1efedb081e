"""The null server in a process of its own: what the engine reaches there is all it can reach on this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .cargo import example
from .generator import run
from .machine import cores
from .ours import OURS
from .seen import Job


@contextmanager
def null_server(core: int) -> Iterator[str]:
    """A null server on ``core``; yields its address. It ends with its input, so even if this process is killed."""
    command = [example("null_server"), str(core)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            sys.exit("the null server did not start; it says why above")
        yield address


def engine_ceiling(seconds: float = 1.0) -> float:
    """Return the engine's requests per second over 64 connections to a server that does nothing."""
    server_core, core = cores()
    with null_server(server_core) as address:
        seen = run(OURS, Job(address=address, core=core, connections=64, seconds=seconds))
    if not seen.requests or not seen.seconds:
        sys.exit(f"the engine's ceiling cannot be found: {seen.note}")
    return seen.requests / seen.seconds
