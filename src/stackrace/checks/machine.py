"""Did the machine stand still for the measurement?"""

from __future__ import annotations

from ..model.verdict import Finding
from .judge import count, judge, percent
from .observation import Observation

__all__ = ["foreign_cpu", "major_faults", "pressure", "steal", "swapping", "throttled"]

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
        remedy="end what else runs here (`stackrace doctor` names it): builds, browsers, indexers, scheduled jobs",
    )


def pressure(seen: Observation) -> Finding | None:
    """Others ran on the stack's cores, while somebody had to wait, for 5 % (warns) or 15 % (redoes) of the slice.

    Foreign CPU counts over the whole machine: on one of sixteen cores it seems little even if that core is the
    stack's. The kernel's pressure alone says nothing either, since a stack with more workers than cores waits
    for itself. Both together do: what the stack's cores did beyond stack, idle stacks and ourselves, but no more
    than somebody waited for a CPU at all (somebody of our own control group, where that has a pressure of its
    own).

    Source: Documentation/accounting/psi.rst, ``some``; proc_stat(5) for the time of each core.
    """
    machine = seen.machine
    if not machine.stack_cores or machine.elapsed_s <= 0:
        return None
    stall_s = machine.stall_s if machine.group_stall_s is None else machine.group_stall_s
    share = min(seen.foreign_on_stack_cores_s / machine.stack_cores, stall_s) / machine.elapsed_s
    return judge(
        "pressure",
        share,
        warns=0.05,
        redoes=0.15,
        seen=f"processes outside the race had the stack's cores for {percent(share)} of the {seen.words.span}, "
        "while others waited",
        remedy="end what else runs here (`stackrace doctor` names it), or keep it off these cores (taskset)",
    )


def throttled(seen: Observation) -> Finding | None:
    """A CPU quota of our control group stopped us: at all warns, for more than 1 % of the time invalidates.

    All threads of a throttled group stand still together until the next period, so latencies show the quota's
    period of 100 ms, and the engine's share comes out of the same quota. A quota that is declared to be part of the
    race only warns.

    Source: Documentation/scheduler/sched-bwc.rst.
    """
    share = seen.machine.throttled_s / seen.machine.elapsed_s if seen.machine.elapsed_s > 0 else 0.0
    return judge(
        "throttled",
        share,
        warns=0.0,
        invalidates=None if seen.cores.quota else 0.01,
        seen=f"a CPU quota stopped this container's processes for {percent(share)} of the {seen.words.span}",
        remedy="lift the container's CPU quota and bind it to whole cores instead (cpuset)"
        + ("" if seen.cores.quota else seen.words.meant_quota),
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


def _share(seen: Observation, cpu_s: float) -> float:
    return cpu_s / seen.machine.capacity_s if seen.machine.capacity_s > 0 else 0.0
