"""May times be believed?"""

from __future__ import annotations

from ..model.verdict import Effect, Finding
from .observation import Observation

__all__ = ["STEADY_CLOCKS", "clock_stepped", "unstable_clock"]

STEADY_CLOCKS = frozenset(
    {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod"}
)
"""Counters that a program reads without entering the kernel: x86, KVM, Hyper-V, ARM, POWER, System z."""


def clock_stepped(seen: Observation) -> Finding | None:
    """The wall clock strayed from the monotonic one by over 50 ms: set by hand, or the machine was paused.

    Latencies come from the monotonic clock, so a step does them no harm; a pause or a migration of the
    virtual machine, which also shows here, does. Time daemons that slew stay below 1 ms in a slice.

    Source: clock_gettime(2), adjtimex(2).
    """
    step_s = seen.machine.clock_step_s
    if abs(step_s) <= 0.05:
        return None
    return Finding(
        check="clock stepped",
        effect=Effect.WARNS,
        seen=f"the wall clock moved by {1000 * step_s:+.0f} ms against the monotonic clock",
        threshold="at most 50 ms",
        remedy="was this machine paused, migrated, or its clock set? "
        f"If the {seen.words.span} stands out, {seen.words.again} again",
    )


def unstable_clock(seen: Observation) -> Finding | None:
    """The kernel told the time by another clock at the end than at the beginning, or by a slow one all along.

    It leaves the processor's own counter for good when its watchdog finds that unstable. Others (hpet, acpi_pm,
    xen) are read by a system call of a microsecond or more, which every latency then holds, the server's own
    work included: those of one race still compare, with other machines they do not.

    Source: Documentation/timers/timekeeping.rst; /sys/devices/system/clocksource.
    """
    before, now = seen.machine.clocksource_before, seen.machine.clocksource
    if before and now and before != now:
        told = f"the kernel gave up its clock {before} for {now}"
    elif now and now not in STEADY_CLOCKS:
        told = f"the kernel tells the time by {now}, which is slow to read"
    else:
        return None
    return Finding(
        check="unstable clock",
        effect=Effect.WARNS,
        seen=told,
        threshold="one of the processor's own counters (tsc, kvm-clock) all along",
        remedy="`journalctl -k -g clocksource` says why; another machine, or the kernel's option clocksource=tsc",
    )
