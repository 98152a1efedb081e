"""What disturbs a race by known amounts: its processors are taken from it for moments, capped, or shared."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Event, Thread

__all__ = ["ENGINE_CORE", "KINDS", "PHASE_S", "STACK_CORE", "Group", "disturbing", "grouped"]

STACK_CORE, ENGINE_CORE = 0, 1
PHASE_S = (0.5, 1.5)

GUARD_S = 3600
"""A program that disturbs ends after so long, whatever becomes of the experiment."""

GONE_S = 60.0
"""How long the last processes of a group may take to go."""

LOOP = "while True: pass"
COPY = (
    "import os, numpy; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)); "
    "one = numpy.ones(1 << 23); other = numpy.empty_like(one)\n"
    "while True: numpy.copyto(other, one)"
)


BURSTS = """
import ctypes, struct, time
# so short a slice that it is let in as soon as it wakes: sched_setattr(2) of x86-64, sched_runtime since Linux 6.12
ctypes.CDLL(None).syscall(314, 0, struct.pack("IIQiIQQQII", 56, 0, 0, 0, 0, 100_000, 0, 0, 0, 0), 0)
while True:
    begin = (time.monotonic() // {every_s} + 1) * {every_s}
    time.sleep(max(begin - time.monotonic(), 0))
    while time.monotonic() < begin + {still_s}: pass
"""
"""Where two cores run it, both are taken at the same moments."""


class Group:
    """A control group for the race and all its processes, and one for programs that come before them."""

    def __init__(self) -> None:
        old = _mounted("cgroup", "cpu")
        name, parent = f"repeat-checks-{os.getpid()}", old or _mounted("cgroup2")
        if parent is None:
            raise SystemExit("no control groups for CPU time here (mount -t cgroup2)")
        self._made: list[Path] = []
        self.cpu, self.first = self._make(parent / name), self._make(parent / f"{name}-first")
        # the race must not see the quota as its own group's: that is a check, too
        self.inner = self._make(self.cpu / "race") if old else self.cpu
        file, least, most = ("cpu.shares", "2", "262144") if old else ("cpu.weight", "1", "10000")
        (self.cpu / file).write_text(least, encoding="ascii")
        (self.first / file).write_text(most, encoding="ascii")

    def _make(self, folder: Path) -> Path:
        folder.mkdir()
        self._made.append(folder)
        return folder

    @property
    def entering(self) -> tuple[str, ...]:
        """What stands before a command that is to run in it, weighed as each of the race's processes is."""
        return _entering(self.inner)

    @property
    def before(self) -> tuple[str, ...]:
        """What stands before a command that has the processor as soon as it wants it."""
        return _entering(self.first)

    def cap(self, cores: float | None) -> None:
        """Allow all together so many cores, in periods of 10 ms."""
        period = 10_000
        quota = None if cores is None else round(cores * period)
        if (self.cpu / "cpu.max").exists():
            (self.cpu / "cpu.max").write_text(f"{'max' if quota is None else quota} {period}", encoding="ascii")
        else:
            (self.cpu / "cpu.cfs_period_us").write_text(str(period), encoding="ascii")
            (self.cpu / "cpu.cfs_quota_us").write_text(str(-1 if quota is None else quota), encoding="ascii")

    def remove(self) -> None:
        """Remove the groups as soon as the last process has gone."""
        self.cap(None)
        until = time.monotonic() + GONE_S
        for folder in reversed(self._made):
            while True:
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.1)
                else:
                    break


def _entering(group: Path) -> tuple[str, ...]:
    return ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")


def _mounted(kind: str, controller: str = "") -> Path | None:
    for mount in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, folder, type_, flags, *_ = mount.split()
        if type_ == kind and (not controller or controller in flags.split(",")):
            return Path(folder)
    return None


Disturb = Callable[[float], None]
"""Disturbs a group for so many seconds."""


@contextmanager
def _capped(group: Group) -> Iterator[Disturb]:
    def disturb(seconds: float) -> None:
        group.cap(0.9)
        time.sleep(seconds)
        group.cap(None)

    yield disturb


@contextmanager
def _programs(entering: tuple[str, ...], code: str, *cores: int) -> Iterator[Disturb]:
    processes: list[subprocess.Popen[bytes]] = []

    def signal_all(number: signal.Signals) -> None:
        for process in processes:
            os.killpg(process.pid, number)

    def disturb(seconds: float) -> None:
        signal_all(signal.SIGCONT)
        time.sleep(seconds)
        signal_all(signal.SIGSTOP)

    try:
        for core in cores:
            pinned = f"import os; os.sched_setaffinity(0, [{core}])\n{code}"
            command = (*entering, "timeout", str(GUARD_S), sys.executable, "-c", pinned)
            processes.append(subprocess.Popen(command, start_new_session=True))
        time.sleep(1.0)  # they have begun their work by then
        signal_all(signal.SIGSTOP)
        yield disturb
    finally:
        signal_all(signal.SIGKILL)
        for process in processes:
            process.wait()


def _taken(group: Group, still_s: float, every_s: float) -> AbstractContextManager[Disturb]:
    code = BURSTS.format(still_s=still_s, every_s=every_s)
    return _programs(group.before, code, STACK_CORE, ENGINE_CORE)


KINDS: dict[str, Callable[[Group], AbstractContextManager[Disturb]]] = {
    "stopped": lambda group: _taken(group, 0.005, 0.020),
    "slowed": lambda group: _taken(group, 0.0005, 0.002),
    "capped": _capped,
    "memory": lambda group: _programs(group.entering, COPY, ENGINE_CORE),
    "loop": lambda group: _programs(group.entering, LOOP, STACK_CORE),
}


@contextmanager
def disturbing(group: Group, kind: str) -> Iterator[list[tuple[float, float]]]:
    """Disturb a group again and again; what is given lists the phases so far."""
    phases: list[tuple[float, float]] = []
    over = Event()

    def run(disturb: Disturb) -> None:
        os.setpriority(os.PRIO_PROCESS, 0, -20)  # of this thread: it must wake in time
        while not over.wait(random.uniform(*PHASE_S)):
            begin = time.monotonic()
            disturb(random.uniform(*PHASE_S))
            phases.append((begin, time.monotonic()))

    with KINDS[kind](group) as disturb:
        thread = Thread(target=run, args=(disturb,))
        thread.start()
        try:
            yield phases
        finally:
            over.set()
            thread.join()


@contextmanager
def grouped() -> Iterator[Group]:
    """Hold a control group."""
    group = Group()
    try:
        yield group
    finally:
        group.remove()
