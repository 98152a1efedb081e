"""Advice on other load of this machine: programs, timers, earlier races."""

from __future__ import annotations

import shlex

from ...base.numbers import count, number, percent
from .advice import Advice, Gain, advise
from .look import Surroundings


def busy(surroundings: Surroundings) -> Advice | None:
    """Return advice if other programs use over 3 % of the machine while nothing is raced."""
    share = surroundings.foreign_share
    if share <= 0.03:
        return None
    names = ", ".join(
        f"{offender.name} (pid {offender.pid}) {percent(offender.share)} of a core"
        for offender in surroundings.offenders
    )
    return advise(
        "foreign CPU",
        seen=f"other programs use {percent(share)} of this machine: {names or 'many that come and go'}; "
        f"load average {number(surroundings.load_average)}",
        threshold="at most 3 %",
        remedy="find out what they are; end them, or wait until they are done",
        why="they take cores and caches from stack and engine, from some slices more than from others",
        gain=Gain.GREAT,
        command=f"ps -o pid,user,etime,args -p {','.join(str(offender.pid) for offender in surroundings.offenders)}"
        if surroundings.offenders
        else "top",
    )


def pressed(surroundings: Surroundings) -> Advice | None:
    """Return advice if programs wait for a CPU while nothing is raced. Source: Documentation/accounting/psi.rst."""
    watched = surroundings.watched
    share = watched.stall_s / watched.elapsed_s if watched.elapsed_s > 0 else 0.0
    if share <= 0.10:
        return None
    return advise(
        "pressure",
        seen=f"programs waited for a CPU for {percent(share)} of the time, with nothing raced",
        threshold="at most 10 %",
        remedy="end them, or wait until they are done",
        why="they want the cores that the race would run on, and get them in turn",
        gain=Gain.GREAT,
        command="cat /proc/pressure/cpu",
    )


def due_soon(surroundings: Surroundings) -> Advice | None:
    """Return advice if timers are due within the hour. Source: systemd.timer(5)."""
    if not surroundings.jobs:
        return None
    names = ", ".join(f"{job.name} {_due_words(job.due_s)}" for job in surroundings.jobs)
    return advise(
        "timers due",
        seen=f"due within the hour: {names}",
        threshold="none",
        remedy="race after them, or stop them and start them again afterwards",
        why="package lists, manual pages and disks are worked through for minutes, on one stack's slices only",
        gain=Gain.SOME,
        command=f"sudo systemctl stop {' '.join(shlex.quote(job.name) for job in surroundings.jobs)}",
    )


def _due_words(due_s: float) -> str:
    return f"in {count(due_s / 60)} min" if due_s >= 60 else "now"


def cron(surroundings: Surroundings) -> Advice | None:
    """Return advice if a daemon starts jobs by the clock. Source: cron(8)."""
    running = sorted(surroundings.daemons & {"cron", "crond", "anacron", "atd"})
    if not running:
        return None
    return advise(
        "scheduled jobs",
        seen=f"{', '.join(running)} may start jobs at any minute",
        threshold="none during a race",
        remedy="stop it for the time of a long race, if its jobs can wait",
        why="a job that starts by the clock meets one stack's slices and not the others'",
        gain=Gain.LITTLE,
        command=f"sudo systemctl stop {' '.join(running)}",
    )


def irq_balance(surroundings: Surroundings) -> Advice | None:
    """Return advice if interrupts are moved between cores every ten seconds. Source: irqbalance(1)."""
    if "irqbalance" not in surroundings.daemons:
        return None
    return advise(
        "irqbalance",
        seen="irqbalance moves interrupts between cores",
        threshold="none during a race",
        remedy="stop it for the time of the race",
        why="the core that serves the network or the disk changes under a race; loopback is not concerned",
        gain=Gain.LITTLE,
        command="sudo systemctl stop irqbalance",
    )


def other_race(surroundings: Surroundings) -> Advice | None:
    """Return advice if another race runs: both would disturb each other."""
    racing = [remains for remains in surroundings.remains if remains.guarded]
    if not racing:
        return None
    return advise(
        "another race",
        seen=f"another race is under way in {', '.join(str(remains.folder) for remains in racing)}",
        threshold="one race at a time",
        remedy="wait until it ends, or end it with Ctrl-C where it runs",
        why="each takes the cores that the other one measures",
        gain=Gain.DECISIVE,
    )


def leftovers(surroundings: Surroundings) -> Advice | None:
    """Return advice if killed races left folders or processes."""
    abandoned = [remains for remains in surroundings.remains if not remains.guarded]
    if not abandoned:
        return None
    pids = sorted({pid for remains in abandoned for pid in remains.pids})
    folders = " ".join(shlex.quote(str(remains.folder)) for remains in abandoned)
    directories = "1 run directory" if len(abandoned) == 1 else f"{len(abandoned)} run directories"
    processes = " and 1 process" if len(pids) == 1 else f" and {len(pids)} processes" if pids else ""
    return advise(
        "leftovers",
        seen=f"earlier races left {directories}{processes}: {folders}",
        threshold="none",
        remedy="remove them",
        why="servers of an earlier race take ports and CPU time" if pids else "they take space only",
        gain=Gain.GREAT if pids else Gain.LITTLE,
        command=(f"kill {' '.join(map(str, pids))}; " if pids else "") + f"rm -r {folders}",
    )


def listening(surroundings: Surroundings) -> Advice | None:
    """Return advice if somebody listens on ports that examples and ``stackrace web`` expect to be free."""
    if not surroundings.listeners:
        return None
    names = ", ".join(f"{port}: {who}" for port, who in sorted(surroundings.listeners.items()))
    return advise(
        "ports taken",
        seen=f"somebody listens on port {names}",
        threshold="nobody you do not know of",
        remedy="races take free ports and do not mind; see that `stackrace load` meets the server you mean",
        why="an old server on a well-known port is easily loaded in place of the new one",
        gain=Gain.LITTLE,
        command=f"ss -ltnp 'sport = :{min(surroundings.listeners)}'",
    )
