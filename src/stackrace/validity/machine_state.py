"""Checks of the machine: memory, speed and clocks were steady during the measurement."""

from __future__ import annotations

import math

from ..base.verdict import Effect, Finding, Unit
from .declaration import Cause, Limits, on_slice, on_slice_and_run
from .observation import Observation

_PAGES_PER_MIB = 256


@on_slice_and_run(
    id="throttled",
    number=12,
    limits=Limits(warns=0.0, invalidates=0.01),
    of="of the time",
    seen="a CPU quota stopped this container's processes for up to {value:percent} of the {knob.span}",
    remedy={
        "": "lift the container's CPU quota and bind it to whole cores instead (cpuset){knob.meant_quota}",
        "declared": "lift the container's CPU quota and bind it to whole cores instead (cpuset)",
    },
    source="Documentation/scheduler/sched-bwc.rst",
)
def _throttled(observation: Observation) -> Finding | None:
    """A CPU quota stopped this container's processes.

    All threads of a throttled group stand still together until the next period. So latencies show the quota's
    period of 100 ms, and the engine's share comes out of the same quota. The kernel adds up the stops of all cores,
    so the share is a bound. If the quota is declared to be part of the race, the check only warns.
    """
    declared, machine = observation.cores.quota, observation.machine
    return _throttled.judge(
        min(machine.throttled_s / machine.elapsed_s, 1.0) if machine.elapsed_s > 0 else 0.0,
        limits=_throttled.limits.only_warns if declared else None,
        cure="declared" if declared else "",
    )


@on_slice_and_run(
    id="swapping",
    number=14,
    limits=Limits(warns=0, invalidates=_PAGES_PER_MIB),
    unit=Unit.PAGES,
    seen="{value:count} pages were swapped in or out",
    remedy={
        "": "use fewer workers, or free memory",
        "stack": "the stack holds {held_bytes:mib} MiB: use fewer workers, race fewer stacks at once, "
        "or free memory",
    },
    source="proc_vmstat(5), `pswpin` and `pswpout`, in pages of 4 KiB",
)
def _swapping(observation: Observation) -> Finding | None:
    """Memory was swapped in or out.

    A page from disk costs a thousand requests. A few pages may belong to a sleeping daemon that woke up; a MiB
    within a slice means that memory is short.
    """
    return _swapping.judge(
        observation.machine.swapped_pages,
        cure="stack" if observation.usage else "",
        held_bytes=sum(hop.pss_bytes for hop in observation.usage),
    )


@on_slice(
    id="major-faults",
    number=14,
    limits=Limits(warns=10),
    unit=Unit.PER_SECOND,
    seen="{value:.0f} page faults per second waited for the disk",
    remedy="a longer warm-up, more memory, or nothing else that reads the disk",
    source="proc_vmstat(5), `pgmajfault`",
)
def _major_faults(observation: Observation) -> Finding | None:
    """Page faults had to wait for the disk.

    Code or files were read for the first time, so the stack is not warm yet.
    """
    elapsed_s = observation.machine.elapsed_s
    return _major_faults.judge(observation.machine.major_faults / elapsed_s if elapsed_s > 0 else 0.0)


@on_slice(
    id="machine-speed",
    number=13,
    cause=Cause.MACHINE,
    limits=Limits(warns=0.10, redoes=0.25),
    unit=Unit.SHARE,
    seen="the machine was {change:pace} after the {knob.span} than before it",
    remedy="{knob.quieter}; `stackrace doctor` looks for the cause",
    source="T. Mytkowicz et al., ASPLOS 2009; E. Barrett et al., OOPSLA 2017",
)
def _machine_speed(observation: Observation) -> Finding | None:
    """A fixed computation on the stack's cores took longer or shorter after the slice than before.

    A slower machine looks like a slower stack. Most of the effect cancels because the stacks take turns; the rest
    widens the limits. 3 % would be the limit on a machine without other guests. On cores shared with other virtual
    machines the speed shifts by a median of 6 to 11 % within a second, by more than 3 % in four slices of five.
    Measuring again finds no better moment, so only the worst slices are repeated (docs/decisions has the figures).
    The value is the higher speed divided by the lower, minus 1, whichever came first.
    """
    change = observation.machine.speed_change
    if change is None:
        return None
    ratio = max(1 + change, 1 / (1 + change)) - 1
    return _machine_speed.judge(ratio, change=math.copysign(ratio, change))


@on_slice(
    id="cpu-frequency",
    number=13,
    title="CPU frequency",
    cause=Cause.MACHINE,
    limits=Limits(warns=0.05, redoes=0.15),
    unit=Unit.SHARE,
    seen="the frequency of the stack's cores {change:moved}",
    remedy="set the governor to performance (`sudo stackrace doctor --apply`), and check the cooling",
    source="Documentation/admin-guide/pm/cpufreq.rst",
)
def _cpu_frequency(observation: Observation) -> Finding | None:
    """The frequency of the stack's cores changed during the slice.

    Governors that follow the load, turbo and heat change the frequency. It is read once at each end, under load.
    """
    change = observation.machine.frequency_change
    return None if change is None else _cpu_frequency.judge(abs(change), change=change)


@on_slice(
    id="overheated",
    number=13,
    cause=Cause.MACHINE,
    limits=Limits(redoes=0),
    seen="the processor slowed down {value:count} times because of heat",
    remedy="let the machine cool down, check its fans, or switch turbo off",
    source="Intel SDM volume 3, Thermal monitoring and protection; sysfs `thermal_throttle`",
)
def _overheated(observation: Observation) -> Finding | None:
    """The processor slowed down because of heat."""
    return _overheated.judge(observation.machine.heat_stops)


STEADY_CLOCKS = frozenset(
    {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod"}
)
"""Counters that a program reads without entering the kernel: x86, KVM, Hyper-V, ARM, POWER, System z."""


@on_slice_and_run(
    id="clock-stepped",
    number=38,
    limits=Limits(warns=0.05),
    unit=Unit.SECONDS,
    seen="the wall clock moved by {step_ms:+.0f} ms against the monotonic clock",
    remedy="was this machine paused, migrated, or its clock set? If the {knob.span} stands out, {knob.verb} again",
    source="clock_gettime(2), adjtimex(2)",
)
def _clock_stepped(observation: Observation) -> Finding | None:
    """The wall clock moved against the monotonic clock: it was set, or the machine was paused.

    Latencies come from the monotonic clock, so a step does them no harm. A pause or a migration of the virtual
    machine, which also shows here, does. Time daemons that slew stay below 1 ms in a slice.
    """
    step_s = observation.machine.clock_step_s
    return _clock_stepped.judge(abs(step_s), step_ms=1000 * step_s)


@on_slice_and_run(
    id="unstable-clock",
    number=38,
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
def _unstable_clock(observation: Observation) -> Finding | None:
    """The kernel changed its clock source, or uses a slow one.

    The kernel drops the processor's own counter for good when its watchdog finds it unstable. Other sources (hpet,
    acpi_pm, xen) are read by a system call of a microsecond or more, which every latency then contains, and the
    server's own work, too. Latencies of one race still compare with one another, but not with other machines.
    """
    before, now = observation.machine.clocksource_before, observation.machine.clocksource
    if before and now and before != now:
        return _unstable_clock.finding(case="changed", before=before, now=now)
    if now and now not in STEADY_CLOCKS:
        return _unstable_clock.finding(case="slow", before=before, now=now)
    return None
