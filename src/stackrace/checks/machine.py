"""Did the machine stand still for the measurement?"""

from __future__ import annotations

from ..model.verdict import Effect, Finding
from .judge import count, judge, percent
from .observation import Observation

__all__ = ["clock_stepped", "foreign_cpu", "major_faults", "steal", "swapping", "throttled"]

_PAGES_PER_MIB = 256


def steal(seen: Observation) -> Finding | None:
    """The hypervisor took more than 1 % (warns) or 5 % (redoes) of the machine for others.

    Stolen time looks like a slow server. It comes in waves, so the slice is worth another try.

    Source: proc_stat(5), ``steal``.
    """
    share = _share(seen, seen.machine.steal_s)
    return judge(
        "steal",
        share,
        warns=0.01,
        redoes=0.05,
        seen=f"the hypervisor gave {percent(share)} of this machine's CPU time to others",
        remedy=seen.words.quieter,
    )


def foreign_cpu(seen: Observation) -> Finding | None:
    """Processes that are not part of the race used more than 3 % (warns) or 10 % (redoes) of the machine.

    They take cores and caches from stack and engine, from some slices more than from others. The figure is
    what remains of the machine's busy time without stack, other stacks and ourselves; ticks of 10 ms and the
    instants between the readings make it uncertain by one or two per cent of a slice of 2 s, and a few per
    cent on another core seldom move a throughput. So 3 % only warns; beyond 10 % no cause but a real one is
    left.

    Source: Georges, Buytaert, Eeckhout, "Statistically rigorous Java performance evaluation", OOPSLA 2007,
    on system noise; T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.
    """
    foreign_s = seen.machine.busy_s - seen.machine.own_s - seen.stack_cpu_s - seen.idle_cpu_s
    share = _share(seen, foreign_s)
    return judge(
        "foreign CPU",
        share,
        warns=0.03,
        redoes=0.10,
        seen=f"processes outside the race used {percent(share)} of this machine's CPU time",
        remedy="end what else runs here (`top` shows it): builds, browsers, indexers, scheduled jobs",
    )


def throttled(seen: Observation) -> Finding | None:
    """A CPU quota of our control group stopped us: at all warns, for more than 1 % of the time invalidates.

    All threads of a throttled group stand still together until the next period, so latencies show the quota's
    period of 100 ms. A quota that the whole race is meant to have is better given as fewer cores.

    Source: Documentation/scheduler/sched-bwc.rst.
    """
    share = seen.machine.throttled_s / seen.machine.elapsed_s if seen.machine.elapsed_s > 0 else 0.0
    return judge(
        "throttled",
        share,
        warns=0.0,
        invalidates=0.01,
        seen=f"a CPU quota stopped this container's processes for {percent(share)} of the {seen.words.span}",
        remedy="lift the container's CPU quota and bind it to whole cores instead (cpuset)",
    )


def swapping(seen: Observation) -> Finding | None:
    """Memory went to or came from the swap device: any page warns, 1 MiB invalidates.

    A page from disk costs a thousand requests. A few pages may be some sleeping daemon that awoke; a MiB
    within a slice means that memory is short.

    Source: proc_vmstat(5), ``pswpin`` and ``pswpout``, in pages of 4 KiB.
    """
    pages = seen.machine.swapped_pages
    return judge(
        "swapping",
        pages,
        warns=0,
        invalidates=_PAGES_PER_MIB,
        seen=f"{count(pages)} pages were swapped in or out",
        remedy=f"the stack holds {count(sum(hop.pss_bytes for hop in seen.usage) / 2**20)} MiB: "
        "use fewer workers, race fewer stacks at once, or free memory"
        if seen.usage
        else "use fewer workers, or free memory",
        unit=lambda limit: f"{limit:.0f} pages",
    )


def major_faults(seen: Observation) -> Finding | None:
    """More than ten page faults per second had to wait for the disk.

    Code or files were read for the first time: the stack is not warm yet.

    Source: proc_vmstat(5), ``pgmajfault``.
    """
    elapsed_s = seen.machine.elapsed_s
    rate = seen.machine.major_faults / elapsed_s if elapsed_s > 0 else 0.0
    return judge(
        "major faults",
        rate,
        warns=10,
        seen=f"{rate:.0f} page faults per second waited for the disk",
        remedy="a longer warm-up, more memory, or nothing else that reads the disk",
        unit=lambda limit: f"{limit:.0f}/s",
    )


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


def _share(seen: Observation, cpu_s: float) -> float:
    return cpu_s / seen.machine.capacity_s if seen.machine.capacity_s > 0 else 0.0
