"""Processes to be probed: each says what it is about to do and ends when its standard input closes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PRELUDE = """
import os, sys, threading, time
from signal import pause

def say(*words):
    print(*words, flush=True)

def burn(cpu_s):
    end = time.process_time() + cpu_s
    while time.process_time() < end:
        pass
"""


@contextmanager
def child(body: str) -> Iterator[subprocess.Popen[str]]:
    """Run ``body`` as the leader of a session of its own; every process it leaves in it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PRELUDE + body],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        for pid in _session(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.communicate()


def _session(leader: int) -> list[int]:
    """Every living process of the session, the leader among them while nobody has waited for it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getsid(int(entry.name)) == leader:
                found.append(int(entry.name))
    return found


def says(process: subprocess.Popen[str]) -> str:
    """Return the next line the child prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], line: str = "") -> None:
    """Send a line to the child."""
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something asynchronous has come about, however slow the machine is."""
    while not holds():
        time.sleep(0.01)
