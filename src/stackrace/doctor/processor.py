"""Advice on the processor: its frequency, its threads, its clock, and who else gets it."""

from __future__ import annotations

from ..checks import STEADY_CLOCKS
from ..model.verdict import Effect, Finding
from .advice import Advice, Change, Gain, command_of
from .kernel import BOOST, NO_TURBO
from .surroundings import Surroundings

__all__ = ["governor", "siblings", "slow_clock", "stolen", "turbo", "virtual", "watchdog"]

_WATCHDOG = "kernel.nmi_watchdog"


def governor(seen: Surroundings) -> Advice | None:
    """Frequencies follow the load. Source: Documentation/admin-guide/pm/cpufreq.rst."""
    changes = tuple(
        Change(key=key, before=now, after="performance")
        for key in seen.governors
        if (now := seen.settings.get(key, "performance")) != "performance"
    )
    if not changes:
        return None
    names = ", ".join(sorted({change.before for change in changes}))
    return Advice(
        finding=Finding(
            check="governor",
            effect=Effect.WARNS,
            seen=f"the frequency of {len(changes)} of {len(seen.governors)} core groups is governed by {names}",
            threshold="performance",
            remedy="hold the frequency up for the time of the race",
        ),
        why="a stack that pauses between requests is given a slower processor than one that is always busy",
        gain=Gain.GREAT,
        command=command_of(changes),
        changes=changes,
    )


def turbo(seen: Surroundings) -> Advice | None:
    """The processor overclocks itself as heat allows.

    Source: Documentation/admin-guide/pm/intel_pstate.rst, ``no_turbo``; cpufreq.rst, ``boost``.
    """
    on = seen.settings.get(NO_TURBO) == "0" or seen.settings.get(BOOST) == "1"
    if not on:
        return None
    change = (NO_TURBO, "1") if NO_TURBO in seen.settings else (BOOST, "0")
    return Advice(
        finding=Finding(
            check="turbo",
            effect=Effect.WARNS,
            seen="the processor overclocks itself as long as it stays cool",
            threshold="off, for the steadiest figures",
            remedy="switch it off if races disagree; all figures become lower, so it is left to you",
        ),
        why="the first minutes are faster than the rest, and one busy core is faster than four",
        gain=Gain.SOME,
        command=f"echo {change[1]} | sudo tee {change[0]}",
    )


def siblings(seen: Surroundings) -> Advice | None:
    """Engine and stacks have hardware threads of the same core. Source: cputopology.rst, thread_siblings_list."""
    if not seen.siblings or seen.plan.cores.shared:
        return None
    keep = sorted({*seen.plan.cores.stack_cores, *seen.plan.cores.generator_cores} - {*seen.siblings})
    alone = len(keep) < 2
    return Advice(
        finding=Finding(
            check="sibling threads",
            effect=Effect.WARNS,
            seen=f"the load engine's core is the other half of the stacks' {_named(seen.siblings)}",
            threshold="a whole core for the engine",
            remedy="a machine with more cores" if alone else "leave the engine's other half out of the race",
        ),
        why="two hardware threads share one core's units: what the engine does slows the stack down",
        gain=Gain.SOME,
        command="" if alone else f"taskset -c {','.join(map(str, keep))} stackrace run",
    )


def _named(cores: tuple[int, ...]) -> str:
    return ("core " if len(cores) == 1 else "cores ") + ", ".join(map(str, cores))


def stolen(seen: Surroundings) -> Advice | None:
    """The hypervisor gives our cores to others. Source: proc_stat(5), steal."""
    capacity_s = seen.watched.capacity_s
    share = seen.watched.steal_s / capacity_s if capacity_s > 0 else 0.0
    if share <= 0.01:
        return None
    return Advice(
        finding=Finding(
            check="steal",
            effect=Effect.WARNS,
            seen=f"the hypervisor gave {share:.1%} of this machine's CPU time to others",
            threshold="at most 1 %",
            remedy="use a machine with dedicated CPUs, or a larger budget so that quiet slices prevail",
        ),
        why="stolen time looks like a slow server, and comes in waves",
        gain=Gain.GREAT,
    )


def virtual(seen: Surroundings) -> Advice | None:
    """Others share the hardware, whether they show or not."""
    if not seen.host.virtual:
        return None
    return Advice(
        finding=Finding(
            check="virtual",
            effect=Effect.WARNS,
            seen=f"this is a {seen.host.virtual}",
            threshold="hardware of one's own",
            remedy="believe the limits, not the figures; a larger budget makes them narrower",
        ),
        why="its speed changes with what its neighbours do, by tens of per cent within a second, unseen by steal",
        gain=Gain.SOME,
    )


def slow_clock(seen: Surroundings) -> Advice | None:
    """Reading the time takes a system call. Source: Documentation/timers/timekeeping.rst."""
    clock = seen.watched.clocksource
    if not clock or clock in STEADY_CLOCKS:
        return None
    better = [name for name in seen.clocks if name in STEADY_CLOCKS]
    path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    return Advice(
        finding=Finding(
            check="unstable clock",
            effect=Effect.WARNS,
            seen=f"the kernel tells the time by {clock}, which is slow to read",
            threshold="one of the processor's own counters",
            remedy="the kernel may have had its reason: `journalctl -k -g clocksource`",
        ),
        why="engine and servers ask for the time at every request; each time costs a microsecond or more",
        gain=Gain.SOME,
        command=f"echo {better[0]} | sudo tee {path}" if better else "",
    )


def watchdog(seen: Surroundings) -> Advice | None:
    """A hardware counter interrupts every core now and then. Source: admin-guide/lockup-watchdogs.rst."""
    if seen.settings.get(_WATCHDOG) != "1":
        return None
    changes = (Change(key=_WATCHDOG, before="1", after="0"),)
    return Advice(
        finding=Finding(
            check="NMI watchdog",
            effect=Effect.WARNS,
            seen="the NMI watchdog is on",
            threshold="off",
            remedy="switch it off for the time of the race",
        ),
        why="it takes a hardware counter and a few interrupts; it finds kernels that hang, which yours does not",
        gain=Gain.LITTLE,
        command=command_of(changes),
        changes=changes,
    )
