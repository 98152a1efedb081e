"""May times be believed?"""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation

__all__ = ["STEADY_CLOCKS", "clock_stepped", "unstable_clock"]

STEADY_CLOCKS = frozenset(
    {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod"}
)
"""Counters that a program reads without entering the kernel: x86, KVM, Hyper-V, ARM, POWER, System z."""


@Declaration(
    id="clock-stepped",
    number=38,
    title="clock stepped",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.05),
    unit=Unit.SECONDS,
    seen="the wall clock moved by {step_ms:+.0f} ms against the monotonic clock",
    remedy="was this machine paused, migrated, or its clock set? If the {knob.span} stands out, {knob.again} again",
    source="clock_gettime(2), adjtimex(2)",
)
def clock_stepped(observation: Observation) -> Finding | None:
    """The wall clock moved against the monotonic clock: it was set, or the machine was paused.

    Latencies come from the monotonic clock, so a step does them no harm; a pause or a migration of the
    virtual machine, which also shows here, does. Time daemons that slew stay below 1 ms in a slice.
    """
    step_s = observation.machine.clock_step_s
    return clock_stepped.judge(abs(step_s), step_ms=1000 * step_s)


@Declaration(
    id="unstable-clock",
    number=38,
    title="unstable clock",
    made=(Made.SLICE, Made.RUN),
    effects=(Effect.WARNS,),
    threshold="one of the processor's counters (tsc, kvm-clock), unchanged",
    rule="one of the processor's counters, unchanged",
    seen={
        "changed": "the kernel changed its clock source from {before} to {now}",
        "slow": "the kernel's clock source is {now}, which is slow to read",
    },
    remedy="`journalctl -k -g clocksource` says why; another machine, or the kernel's option clocksource=tsc",
    source="Documentation/timers/timekeeping.rst; /sys/devices/system/clocksource",
)
def unstable_clock(observation: Observation) -> Finding | None:
    """The kernel changed its clock source, or uses a slow one.

    It leaves the processor's own counter for good when its watchdog finds that unstable. Others (hpet, acpi_pm,
    xen) are read by a system call of a microsecond or more, which every latency then holds, the server's own
    work included: those of one race still compare, with other machines they do not.
    """
    before, now = observation.machine.clocksource_before, observation.machine.clocksource
    if before and now and before != now:
        return unstable_clock.finding(case="changed", before=before, now=now)
    if now and now not in STEADY_CLOCKS:
        return unstable_clock.finding(case="slow", before=before, now=now)
    return None
