"""Advice on who else is here: other programs, timers, earlier races."""

from __future__ import annotations

import shlex

from ..model.numbers import count, number, percent
from .advice import Advice, Gain, advise
from .surroundings import Surroundings

__all__ = ["busy", "cron", "due_soon", "irq_balance", "leftovers", "listening", "other_race", "pressed"]


def busy(seen: Surroundings) -> Advice | None:
    """Other programs use over 3 % of the machine while nothing is raced."""
    share = seen.foreign_share
    if share <= 0.03:
        return None
    named = ", ".join(f"{one.name} (pid {one.pid}) {percent(one.share)} of a core" for one in seen.offenders)
    return advise(
        "foreign CPU",
        seen=f"other programs use {percent(share)} of this machine: {named or 'many that come and go'}; "
        f"load average {number(seen.load_average)}",
        threshold="at most 3 %",
        remedy="find out what they are; end them, or wait until they are done",
        why="they take cores and caches from stack and engine, from some slices more than from others",
        gain=Gain.GREAT,
        command=f"ps -o pid,user,etime,args -p {','.join(str(one.pid) for one in seen.offenders)}"
        if seen.offenders
        else "top",
    )


def pressed(seen: Surroundings) -> Advice | None:
    """Somebody waits for a CPU although nothing is raced. Source: Documentation/accounting/psi.rst."""
    watched = seen.watched
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


def due_soon(seen: Surroundings) -> Advice | None:
    """Timers are due within the hour. Source: systemd.timer(5)."""
    if not seen.jobs:
        return None
    named = ", ".join(f"{job.name} {_in(job.due_s)}" for job in seen.jobs)
    return advise(
        "timers due",
        seen=f"due within the hour: {named}",
        threshold="none",
        remedy="race after them, or stop them and start them again afterwards",
        why="package lists, manual pages and disks are worked through for minutes, on one stack's slices only",
        gain=Gain.SOME,
        command=f"sudo systemctl stop {' '.join(shlex.quote(job.name) for job in seen.jobs)}",
    )


def _in(due_s: float) -> str:
    return f"in {count(due_s / 60)} min" if due_s >= 60 else "now"


def cron(seen: Surroundings) -> Advice | None:
    """A daemon starts jobs by the clock. Source: cron(8)."""
    running = sorted(seen.daemons & {"cron", "crond", "anacron", "atd"})
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


def irq_balance(seen: Surroundings) -> Advice | None:
    """Interrupts are moved between cores every ten seconds. Source: irqbalance(1)."""
    if "irqbalance" not in seen.daemons:
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


def other_race(seen: Surroundings) -> Advice | None:
    """Another race is under way: both would measure each other."""
    racing = [one for one in seen.remains if one.guarded]
    if not racing:
        return None
    return advise(
        "another race",
        seen=f"another race is under way in {', '.join(str(one.folder) for one in racing)}",
        threshold="one race at a time",
        remedy="wait until it ends, or end it with Ctrl-C where it runs",
        why="each takes the cores that the other one measures",
        gain=Gain.DECISIVE,
    )


def leftovers(seen: Surroundings) -> Advice | None:
    """Killed races left folders or processes."""
    left = [one for one in seen.remains if not one.guarded]
    if not left:
        return None
    pids = sorted({pid for one in left for pid in one.pids})
    folders = " ".join(shlex.quote(str(one.folder)) for one in left)
    processes = f" and {len(pids)} processes" if pids else ""
    return advise(
        "leftovers",
        seen=f"earlier races left {len(left)} run directories{processes}: {folders}",
        threshold="none",
        remedy="remove them",
        why="servers of an earlier race take ports and CPU time" if pids else "they take space only",
        gain=Gain.GREAT if pids else Gain.LITTLE,
        command=(f"kill {' '.join(map(str, pids))}; " if pids else "") + f"rm -r {folders}",
    )


def listening(seen: Surroundings) -> Advice | None:
    """Somebody listens where examples and ``stackrace web`` expect nobody."""
    if not seen.listeners:
        return None
    named = ", ".join(f"{port}: {who}" for port, who in sorted(seen.listeners.items()))
    return advise(
        "ports taken",
        seen=f"somebody listens on port {named}",
        threshold="nobody you do not know of",
        remedy="races take free ports and do not mind; see that `stackrace load` meets the server you mean",
        why="an old server on a well-known port is easily loaded in place of the new one",
        gain=Gain.LITTLE,
        command=f"ss -ltnp 'sport = :{min(seen.listeners)}'",
    )
