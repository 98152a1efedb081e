"""Did the machine stand still for the measurement?"""

from __future__ import annotations

from ..model.verdict import Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation

__all__ = ["foreign_cpu", "major_faults", "pressure", "steal", "swapping", "throttled"]

_PAGES_PER_MIB = 256
_END_OTHERS = "end what else runs here (`stackrace doctor` names it)"


@Declaration(
    id="steal",
    number=10,
    title="steal",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.01, redoes=0.05),
    unit=Unit.SHARE,
    of="of the machine",
    seen="the hypervisor gave {value:percent} of this machine's CPU time to others",
    remedy="{knob.quieter}",
    source="proc_stat(5), `steal`",
)
def steal(observation: Observation) -> Finding | None:
    """The hypervisor gave this machine's CPU time to others.

    Stolen time looks like a slow server. It comes in waves, so the slice is worth another try.
    """
    return steal.judge(_share(observation, observation.machine.steal_s))


@Declaration(
    id="foreign-cpu",
    number=11,
    title="foreign CPU",
    made=(Made.SLICE,),
    limits=Limits(warns=0.03, redoes=0.10),
    unit=Unit.SHARE,
    of="of the machine",
    seen="processes outside the race used {value:percent} of this machine's CPU time",
    remedy=f"{_END_OTHERS}: builds, browsers, indexers, scheduled jobs",
    source="Georges, Buytaert, Eeckhout, OOPSLA 2007; T. Kalibera, R. Jones, ISMM 2013",
)
def foreign_cpu(observation: Observation) -> Finding | None:
    """Processes outside the race used CPU time.

    They take cores and caches from stack and engine, from some slices more than from others. The figure is
    what remains of the machine's busy time without stack, other stacks and ourselves; ticks of 10 ms and the
    instants between the readings make it uncertain by one or two per cent of a slice of 2 s, and a few per
    cent on another core seldom move a throughput: so the lower limit only warns. Beyond the upper one no cause but
    a real one is left.
    """
    foreign_s = (
        observation.machine.busy_s - observation.machine.own_s - observation.stack_cpu_s - observation.idle_cpu_s
    )
    return foreign_cpu.judge(_share(observation, foreign_s))


@Declaration(
    id="pressure",
    number=11,
    title="pressure",
    made=(Made.SLICE,),
    limits=Limits(warns=0.05, redoes=0.15),
    unit=Unit.SHARE,
    of="of the slice",
    seen="processes outside the race had the stack's cores for {value:percent} of the {knob.span}, "
    "while others waited",
    remedy=f"{_END_OTHERS}, or keep it off these cores (taskset)",
    source="Documentation/accounting/psi.rst, `some`; proc_stat(5)",
)
def pressure(observation: Observation) -> Finding | None:
    """Processes outside the race ran on the stack's cores while others waited.

    Foreign CPU counts over the whole machine: on one of sixteen cores it seems little even if that core is the
    stack's. The kernel's pressure alone says nothing either, since a stack with more workers than cores waits
    for itself. Both together do: what the stack's cores did beyond stack, idle stacks and ourselves, but no more
    than somebody waited for a CPU at all (somebody of our own control group, where that has a pressure of its
    own).
    """
    machine = observation.machine
    if not machine.stack_cores or machine.elapsed_s <= 0:
        return None
    stall_s = machine.stall_s if machine.group_stall_s is None else machine.group_stall_s
    return pressure.judge(
        min(observation.foreign_on_stack_cores_s / machine.stack_cores, stall_s) / machine.elapsed_s
    )


@Declaration(
    id="throttled",
    number=12,
    title="throttled",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.0, invalidates=0.01),
    unit=Unit.SHARE,
    of="of the time",
    seen="a CPU quota stopped this container's processes for {value:percent} of the {knob.span}",
    remedy={
        "": "lift the container's CPU quota and bind it to whole cores instead (cpuset){knob.meant_quota}",
        "declared": "lift the container's CPU quota and bind it to whole cores instead (cpuset)",
    },
    source="Documentation/scheduler/sched-bwc.rst",
)
def throttled(observation: Observation) -> Finding | None:
    """A CPU quota stopped this container's processes.

    All threads of a throttled group stand still together until the next period, so latencies show the quota's
    period of 100 ms, and the engine's share comes out of the same quota. A quota that is declared to be part of the
    race only warns.
    """
    declared = observation.cores.quota
    return throttled.judge(
        observation.machine.throttled_s / observation.machine.elapsed_s
        if observation.machine.elapsed_s > 0
        else 0.0,
        limits=throttled.limits.only_warns if declared else None,
        cure="declared" if declared else "",
    )


@Declaration(
    id="swapping",
    number=14,
    title="swapping",
    made=(Made.SLICE, Made.RUN),
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
def swapping(observation: Observation) -> Finding | None:
    """Memory was swapped in or out.

    A page from disk costs a thousand requests. A few pages may be some sleeping daemon that awoke; a MiB
    within a slice means that memory is short.
    """
    return swapping.judge(
        observation.machine.swapped_pages,
        cure="stack" if observation.usage else "",
        held_bytes=sum(hop.pss_bytes for hop in observation.usage),
    )


@Declaration(
    id="major-faults",
    number=14,
    title="major faults",
    made=(Made.SLICE,),
    limits=Limits(warns=10),
    unit=Unit.PER_SECOND,
    seen="{value:.0f} page faults per second waited for the disk",
    remedy="a longer warm-up, more memory, or nothing else that reads the disk",
    source="proc_vmstat(5), `pgmajfault`",
)
def major_faults(observation: Observation) -> Finding | None:
    """Page faults had to wait for the disk.

    Code or files were read for the first time: the stack is not warm yet.
    """
    elapsed_s = observation.machine.elapsed_s
    return major_faults.judge(observation.machine.major_faults / elapsed_s if elapsed_s > 0 else 0.0)


def _share(observation: Observation, cpu_s: float) -> float:
    return cpu_s / observation.machine.capacity_s if observation.machine.capacity_s > 0 else 0.0
