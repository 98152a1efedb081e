"""What disturbs a race by known amounts: all of its processes stand still, are capped, or share a core."""

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


class Group:
    """A control group for the race and all its processes, below which the race may make its own."""

    def __init__(self) -> None:
        self._made: list[Path] = []
        self.freezer = self._make(_mounted("cgroup2"))
        self.cpu = self._make(_mounted("cgroup", "cpu")) if _mounted("cgroup", "cpu") else self.freezer
        # the race must not see the quota as its own group's: that is a check, too
        self.inner = self._make(self.cpu, "race") if self.cpu != self.freezer else self.freezer

    def _make(self, parent: Path | None, name: str = f"repeat-checks-{os.getpid()}") -> Path:
        if parent is None:
            raise SystemExit("no control groups of version 2 here (mount -t cgroup2)")
        folder = parent / name
        folder.mkdir()
        self._made.append(folder)
        return folder

    @property
    def entering(self) -> tuple[str, ...]:
        """What stands before a command that is to run in it."""
        return _entering(self.freezer, self.inner)

    @property
    def weighed(self) -> tuple[str, ...]:
        """The same for a program that shares the processor with the race's processes, each weighed alike."""
        return _entering(self.inner)

    def freeze(self, frozen: bool) -> None:
        """Let all stand still, or go on."""
        (self.freezer / "cgroup.freeze").write_text("1" if frozen else "0", encoding="ascii")

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
        """Thaw what is left, and remove the groups as soon as the last process has gone."""
        self.freeze(False)
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


def _entering(*groups: Path) -> tuple[str, ...]:
    joined = " && ".join(f"echo $$ > {one}/cgroup.procs" for one in dict.fromkeys(groups))
    return ("sh", "-c", f'{joined} && exec "$@"', "sh")


def _mounted(kind: str, controller: str = "") -> Path | None:
    for mount in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, folder, type_, flags, *_ = mount.split()
        if type_ == kind and (not controller or controller in flags.split(",")):
            return Path(folder)
    return None


Disturb = Callable[[float], None]
"""Disturbs a group for so many seconds."""


@contextmanager
def _standing(group: Group, still_s: float, every_s: float) -> Iterator[Disturb]:
    def disturb(seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            group.freeze(True)
            time.sleep(still_s)
            group.freeze(False)
            time.sleep(every_s - still_s)

    yield disturb


@contextmanager
def _capped(group: Group) -> Iterator[Disturb]:
    def disturb(seconds: float) -> None:
        group.cap(0.9)
        time.sleep(seconds)
        group.cap(None)

    yield disturb


@contextmanager
def _program(group: Group, code: str, core: int) -> Iterator[Disturb]:
    pinned = f"import os; os.sched_setaffinity(0, [{core}])\n{code}"
    command = (*group.weighed, "timeout", str(GUARD_S), sys.executable, "-c", pinned)
    process = subprocess.Popen(command, start_new_session=True)

    def disturb(seconds: float) -> None:
        os.killpg(process.pid, signal.SIGCONT)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGSTOP)

    try:
        time.sleep(1.0)  # it has begun its work by then
        os.killpg(process.pid, signal.SIGSTOP)
        yield disturb
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


KINDS: dict[str, Callable[[Group], AbstractContextManager[Disturb]]] = {
    "stopped": lambda group: _standing(group, 0.005, 0.020),
    "slowed": lambda group: _standing(group, 0.0005, 0.002),
    "capped": _capped,
    "memory": lambda group: _program(group, COPY, ENGINE_CORE),
    "loop": lambda group: _program(group, LOOP, STACK_CORE),
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
