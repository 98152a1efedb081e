"""Disturbances from outside of a race: processes that take cores, and one that stops ours for a moment.

Each is a process of our own, bounded in time, and ended by its id.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .fault import CannotInject

LONGEST_S = 60

_HOG = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
until = time.monotonic() + float(sys.argv[2])
print(flush=True)
while time.monotonic() < until and os.getppid() == int(sys.argv[3]):
    for _ in range(100_000): pass
"""

_INTERRUPTER = """
import os, signal, sys, time
pid, after, length = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
time.sleep(after)
os.kill(pid, signal.SIGSTOP)
time.sleep(length)
os.kill(pid, signal.SIGCONT)
"""


@contextmanager
def hogs(cores: Sequence[int]) -> Iterator[None]:
    """Have a process on each of ``cores`` that never sleeps; name a core twice for two of them."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for core in cores:
            command = [sys.executable, "-c", _HOG, str(core), str(LONGEST_S), str(os.getpid())]
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()
        yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


@contextmanager
def interrupted(*, after_s: float, length_s: float) -> Iterator[None]:
    """Have this process, the load engine in it, stand still once: ``after_s`` from now, for ``length_s``."""
    command = [sys.executable, "-c", _INTERRUPTER, str(os.getpid()), str(after_s), str(length_s)]
    with subprocess.Popen(command) as process:
        yield
        process.wait()


@contextmanager
def quota(share: float) -> Iterator[None]:
    """Put this process and all that it starts below a quota of ``share`` of one core.

    Source: Documentation/scheduler/sched-bwc.rst; needs the cpu controller of cgroup v1 and the right to use it.
    """
    top = Path("/sys/fs/cgroup/cpu")
    home = _own_group(top)
    group = top / f"stackrace-lies-{os.getpid()}"
    try:
        group.mkdir()
        (group / "cpu.cfs_period_us").write_text("100000")
        (group / "cpu.cfs_quota_us").write_text(str(round(100_000 * share)))
    except OSError as error:
        raise CannotInject(f"no control group of our own can be made: {error}") from error
    try:
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (home / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def _own_group(top: Path) -> Path:
    for line in Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
        _, controllers, group = line.split(":", 2)
        if "cpu" in controllers.split(","):
            return top / group.strip("/")
    raise CannotInject("there is no cpu controller of cgroup v1 here")
