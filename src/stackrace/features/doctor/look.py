"""This machine at rest: its facts, read once, and its activity, watched for a moment while we do nothing."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...base.process import ask
from ...base.process.processes import pids, process_name, read
from ...base.temporary import temporary_folder
from ...deploy import sockets
from ...deploy.guard import RUN_DIRECTORY
from ...measure import probe
from ...measure.host import HostFacts, MachineDelta, Offender
from ...measure.load import Load
from ...measure.probe.host_reading import allowed_cores, delegated
from ...measure.probe.proc import open_files
from ...measure.resources import Resources
from ...validity.observation import Preparation
from .kernel import BOOST, CLOCKS, NO_TURBO, THP, Kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A scheduled job."""

    name: str
    due_s: float
    """Seconds until it is due; negative if overdue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """An existing folder of a race."""

    folder: Path
    pids: tuple[int, ...] = ()
    """Processes that work in it."""
    guarded: bool = False
    """True if its supervisor lives, so that the race is running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A machine before a race."""

    host: HostFacts
    plan: Preparation
    """Input of the checks before a race."""
    watched: MachineDelta
    """The machine's activity without us while it was watched."""
    speed_spread: float | None = None
    """Speed of the machine's fastest moments relative to its slowest, minus one: 0.3 is 30 %. None if unknown."""
    offenders: tuple[Offender, ...] = ()
    """Programs that used the machine most."""
    load_average: float = 0.0
    settings: Mapping[str, str] = field(default_factory=dict)
    """Kernel settings as returned by ``Kernel.read``, by key."""
    governors: tuple[str, ...] = ()
    """Keys, in ``settings``, of the frequency governors: one for each group of cores."""
    memory_free_bytes: float
    swap_bytes: int = 0
    swap_used_bytes: int = 0
    disk: Path = Path("/tmp")
    """Folder that races run in."""
    disk_bytes: int
    """Size of the file system of ``disk``."""
    disk_free_bytes: int
    """Free space there."""
    allowed_cores: float = float("inf")
    """CPU quota of the control group, in cores; infinite without one."""
    delegated: bool | None = None
    """True if control groups can be created below ours; None if version 2 is not available."""
    clocks: tuple[str, ...] = ()
    """Clock sources that the kernel could use."""
    daemons: frozenset[str] = frozenset()
    """Names of running processes."""
    jobs: tuple[Job, ...] = ()
    """Jobs that systemd's timers will start within an hour."""
    remains: tuple[Remains, ...] = ()
    """Folders of running races, and of those that left theirs behind."""
    listeners: Mapping[int, str] = field(default_factory=dict)
    """Programs that listen on ports of examples, by port."""

    @property
    def foreign_share(self) -> float:
        """Share of the machine that other programs used while it was watched, from 0."""
        watched = self.watched
        share = (watched.busy_s - watched.own_s) / watched.capacity_s if watched.capacity_s > 0 else 0.0
        return max(0.0, share)


_BETWEEN_S = 0.1
_LEAST = 10

_SETTINGS = (
    "net.core.somaxconn",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_tw_reuse",
    "vm.swappiness",
    "kernel.nmi_watchdog",
    THP,
    NO_TURBO,
    BOOST,
)


def look(
    kernel: Kernel,
    *,
    cores: Resources,
    concurrency: int,
    watch_s: float = 2.0,
) -> Surroundings:
    """Return the state of this machine for a race at ``concurrency`` connections; takes ``watch_s`` seconds."""
    was_used, before = probe.cpu_by_process(), probe.read_machine((), cores.stack_cores)
    speeds = _watch_speed(cores, watch_s)
    watched, is_used = probe.difference(before, probe.read_machine((), cores.stack_cores)), probe.cpu_by_process()
    memory = probe.memory_bytes()
    disk = Path(temporary_folder())
    room = shutil.disk_usage(disk)
    governors = kernel.governors()
    return Surroundings(
        host=probe.host_facts(),
        plan=_plan(cores, concurrency),
        watched=watched,
        speed_spread=_spread(speeds),
        offenders=probe.offenders(was_used, is_used, watched.elapsed_s),
        load_average=os.getloadavg()[0],
        settings={key: value for key in (*_SETTINGS, *governors) if (value := kernel.read(key)) is not None},
        governors=governors,
        memory_free_bytes=probe.available_bytes(),
        swap_bytes=memory.get("SwapTotal", 0),
        swap_used_bytes=memory.get("SwapTotal", 0) - memory.get("SwapFree", 0),
        disk=disk,
        disk_bytes=room.total,
        disk_free_bytes=room.free,
        allowed_cores=allowed_cores(),
        delegated=delegated(),
        clocks=tuple((kernel.read(CLOCKS) or "").split()),
        daemons=_daemons(),
        jobs=_jobs(),
        remains=remains(),
        listeners=_listeners(),
    )


def _watch_speed(cores: Resources, watch_s: float) -> list[float]:
    """Return repeated costs of the canary, in ns; it runs for a few ms in each 100."""
    until, costs = time.monotonic() + watch_s, []
    while (left_s := until - time.monotonic()) > 0:
        costs.append(probe.canary_ns(cores.stack_cores))
        time.sleep(min(_BETWEEN_S, left_s))
    return costs


def _spread(costs: Sequence[float]) -> float | None:
    valid = sorted(cost for cost in costs if cost > 0)
    if len(valid) < _LEAST:
        return None
    tenth = len(valid) // 10
    return valid[-1 - tenth] / valid[tenth] - 1


def _plan(cores: Resources, concurrency: int) -> Preparation:
    return Preparation(
        loads=(Load(concurrency=concurrency, duration_s=1.0),),
        cores=cores,
        limits=probe.network_limits(),
        threads=probe.physical_cores({*cores.stack_cores, *cores.generator_cores}),
    )


_PORTS = (8000, 8765)

_WITHIN_S = 3600.0


def _daemons() -> frozenset[str]:
    """Return the names of all running processes. Source: proc_pid_comm(5), at most 15 characters."""
    return frozenset(process_name(pid) for pid in pids())


def _jobs(listed: str | None = None, now_s: float | None = None) -> tuple[Job, ...]:
    """Return systemd's timers that are due within an hour, the nearest first; empty if systemd does not run.

    ``listed`` is systemctl's output, ``now_s`` the wall clock's time then. Source: systemctl(1), list-timers;
    ``next`` is in microseconds since 1970, 0 or null for never.
    """
    now_s = time.time() if now_s is None else now_s
    text = _list_timers() if listed is None else listed
    try:
        timers = json.loads(text or "[]")
    except ValueError:
        return ()  # systemd before 247 prints a table
    due = [Job(name=str(timer["unit"]), due_s=timer["next"] / 1e6 - now_s) for timer in timers if timer["next"]]
    return tuple(sorted((job for job in due if job.due_s < _WITHIN_S), key=lambda job: job.due_s))


def _list_timers() -> str:
    if not Path("/run/systemd/system").exists():
        return ""  # sd_booted(3)
    return ask(("systemctl", "list-timers", "--output=json", "--no-pager"), most_bytes=2**20).output


def remains(folders: Iterable[Path] | None = None) -> tuple[Remains, ...]:
    """Return the existing run directories of races, with the processes that work in them."""
    if folders is None:
        tops = dict.fromkeys((Path(temporary_folder()), Path("/tmp")))
        paths = (path for top in tops if top.is_dir() for path in top.iterdir())
        folders = [path for path in paths if RUN_DIRECTORY.fullmatch(path.name)]
    users = {pid: _user_and_command(pid) for pid in pids() if pid != os.getpid()}
    return tuple(_remains(folder, users) for folder in sorted(folders))


def _remains(folder: Path, users: Mapping[int, tuple[str, list[str]]]) -> Remains:
    workers = [
        pid
        for pid, (cwd, words) in users.items()
        if _inside(cwd, folder) or any(_inside(word, folder) for word in words)
    ]
    guarded = any(
        any(word.endswith("/supervisor.py") for word in users[pid][1]) and str(folder) in users[pid][1]
        for pid in workers
    )
    return Remains(folder=folder, pids=tuple(workers), guarded=guarded)


def _inside(word: str, folder: Path) -> bool:
    return word == str(folder) or f"{folder}/" in word


def _user_and_command(pid: int) -> tuple[str, list[str]]:
    try:
        cwd = str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        cwd = ""
    return cwd, (read(f"/proc/{pid}/cmdline") or b"").decode(errors="replace").split("\0")


def _listeners(ports: Iterable[int] = _PORTS) -> Mapping[int, str]:
    inodes = {inode: port for port, own in sockets.listeners().items() if port in ports for inode in own}
    owners = dict.fromkeys(inodes.values(), "another user's process")
    for pid in pids() if inodes else ():
        files = open_files(pid)
        for inode in files.sockets & inodes.keys() if files else ():
            owners[inodes[inode]] = f"{process_name(pid)} (pid {pid})"
    return owners
