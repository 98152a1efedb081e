"""Advice on the processor: its frequency, its threads, its clock, and others that share it."""

from __future__ import annotations

from ...base.numbers import duration, percent
from ...validity.machine_state import STEADY_CLOCKS
from .advice import Advice, Change, Gain, advise
from .kernel import BOOST, NO_TURBO
from .look import Surroundings

_WATCHDOG = "kernel.nmi_watchdog"


def governor(surroundings: Surroundings) -> Advice | None:
    """Return advice if frequencies follow the load. Source: Documentation/admin-guide/pm/cpufreq.rst."""
    changes = tuple(
        Change(key=key, before=now, after="performance")
        for key in surroundings.governors
        if (now := surroundings.settings.get(key, "performance")) != "performance"
    )
    if not changes:
        return None
    names = ", ".join(sorted({change.before for change in changes}))
    return advise(
        "governor",
        seen=f"the frequency of {len(changes)} of {len(surroundings.governors)} core groups is governed by {names}",
        threshold="performance",
        remedy="hold the frequency up for the time of the race",
        why="a stack that pauses between requests is given a slower processor than one that is always busy",
        gain=Gain.GREAT,
        changes=changes,
    )


def turbo(surroundings: Surroundings) -> Advice | None:
    """Return advice if the processor overclocks itself as heat allows.

    Source: Documentation/admin-guide/pm/intel_pstate.rst, ``no_turbo``; cpufreq.rst, ``boost``.
    """
    on = surroundings.settings.get(NO_TURBO) == "0" or surroundings.settings.get(BOOST) == "1"
    if not on:
        return None
    change = (NO_TURBO, "1") if NO_TURBO in surroundings.settings else (BOOST, "0")
    return advise(
        "turbo",
        seen="the processor overclocks itself as long as it stays cool",
        threshold="off, for the steadiest figures",
        remedy="switch it off if races disagree; all figures become lower, so it is left to you",
        why="the first minutes are faster than the rest, and one busy core is faster than four",
        gain=Gain.SOME,
        command=f"echo {change[1]} | sudo tee {change[0]}",
    )


def stolen(surroundings: Surroundings) -> Advice | None:
    """Return advice if the hypervisor gives our cores to others. Source: proc_stat(5), steal."""
    capacity_s = surroundings.watched.capacity_s
    share = surroundings.watched.steal_s / capacity_s if capacity_s > 0 else 0.0
    if share <= 0.01:
        return None
    return advise(
        "steal",
        seen=f"the hypervisor gave {percent(share)} of this machine's CPU time to others",
        threshold="at most 1 %",
        remedy="use a machine with dedicated CPUs, or a larger budget so that quiet slices prevail",
        why="stolen time looks like a slow server, and comes in waves",
        gain=Gain.GREAT,
    )


def restless(surroundings: Surroundings) -> Advice | None:
    """Return advice if the same work varies in cost by over a tenth between the fastest and the slowest moments."""
    spread, watched_s = surroundings.speed_spread, surroundings.watched.elapsed_s
    if spread is None or spread <= 0.10:
        return None
    return advise(
        "machine speed",
        seen=f"the same work was {percent(spread)} slower at times, within {duration(watched_s)}",
        threshold="at most 10 %",
        remedy="see what stands above and below; a larger budget lets the shuffled turns cancel more of it",
        why="a slice in a slow moment looks like a slow stack",
        gain=Gain.GREAT,
    )


def virtual(surroundings: Surroundings) -> Advice | None:
    """Return advice for a virtual machine: others share the hardware, visibly or not."""
    if not surroundings.host.virtual:
        return None
    return advise(
        "virtual",
        seen=f"this is a {surroundings.host.virtual}",
        threshold="a physical machine",
        remedy="trust the limits rather than the figures; a larger budget narrows the limits",
        why="its neighbours change its speed by tens of per cent within a second, and steal does not show it",
        gain=Gain.SOME,
    )


def slow_clock(surroundings: Surroundings) -> Advice | None:
    """Return advice if reading the time takes a system call. Source: Documentation/timers/timekeeping.rst."""
    clock = surroundings.watched.clocksource
    if not clock or clock in STEADY_CLOCKS:
        return None
    better = [name for name in surroundings.clocks if name in STEADY_CLOCKS]
    path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    return advise(
        "unstable clock",
        seen=f"the kernel tells the time by {clock}, which is slow to read",
        threshold="one of the processor's counters",
        remedy="the kernel may have had its reason: `journalctl -k -g clocksource`",
        why="engine and servers ask for the time at every request; each time costs a microsecond or more",
        gain=Gain.SOME,
        command=f"echo {better[0]} | sudo tee {path}" if better else "",
    )


def watchdog(surroundings: Surroundings) -> Advice | None:
    """Return advice if a hardware counter interrupts every core. Source: admin-guide/lockup-watchdogs.rst."""
    if surroundings.settings.get(_WATCHDOG) != "1":
        return None
    changes = (Change(key=_WATCHDOG, before="1", after="0"),)
    return advise(
        "NMI watchdog",
        seen="the NMI watchdog is on",
        threshold="off",
        remedy="switch it off for the time of the race",
        why="it takes a hardware counter and a few interrupts; it finds kernels that hang, which yours does not",
        gain=Gain.LITTLE,
        changes=changes,
    )
