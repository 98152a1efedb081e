"""Did the machine stand still for the measurement?"""

from __future__ import annotations

from ..base.verdict import Finding, Unit
from .declaration import Cause, Declaration, Limits, Made
from .observation import Observation

__all__ = ["MOST_TAKEN", "contention", "foreign_cpu", "major_faults", "steal", "swapping", "throttled"]

MOST_TAKEN = 0.10
"""The share of the stacks' cores that others may have while a stack waits."""

_PAGES_PER_MIB = 256
_END_OTHERS = "end what else runs here (`stackrace doctor` names it)"


@Declaration(
    id="steal",
    number=10,
    title="steal",
    cause=Cause.MACHINE,
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.01, invalidates=0.05),
    unit=Unit.SHARE,
    of="of the machine",
    seen="the hypervisor gave {value:percent} of this machine's CPU time to others",
    remedy="{knob.quieter}",
    source="proc_stat(5), `steal`",
    passing=True,
)
def steal(observation: Observation) -> Finding | None:
    """The hypervisor gave this machine's CPU time to others.

    Stolen time looks like a slow server, and stacks suffer unequally: where engine and stack were kept to 0.9 of a
    core, some lost 19 % and one 28 %. It comes in waves, so the slice is worth another try.
    """
    return steal.judge(_share(observation, observation.machine.steal_s))


@Declaration(
    id="foreign-cpu",
    number=11,
    title="foreign CPU",
    cause=Cause.PROGRAMS,
    made=(Made.SLICE,),
    limits=Limits(warns=0.03),
    unit=Unit.SHARE,
    of="of the machine",
    seen="processes outside the race used {value:percent} of this machine's CPU time",
    remedy=f"{_END_OTHERS}: builds, browsers, indexers, scheduled jobs",
    source="Georges, Buytaert, Eeckhout, OOPSLA 2007; T. Kalibera, R. Jones, ISMM 2013",
)
def foreign_cpu(observation: Observation) -> Finding | None:
    """Processes outside the race used CPU time.

    They share caches and memory with stack and engine; whether they took the cores is what *contention* looks at.
    The figure is what remains of the machine's busy time without stack, other stacks and ourselves; ticks of 10 ms
    and the instants between the readings make it uncertain by one or two per cent of a slice of 2 s.
    """
    foreign_s = (
        observation.machine.busy_s - observation.machine.own_s - observation.stack_cpu_s - observation.idle_cpu_s
    )
    return foreign_cpu.judge(_share(observation, foreign_s))


@Declaration(
    id="contention",
    number=11,
    title="contention",
    cause=Cause.PROGRAMS,
    made=(Made.SLICE,),
    limits=Limits(warns=0.05, invalidates=MOST_TAKEN),
    unit=Unit.SHARE,
    of="of the stack's cores",
    seen={
        "": "{who} had {value:percent} of {cores:cores} while the stack waited",
        "needed": "{who} had {value:percent} of {cores:cores} in every slice, and rested with the stacks: the app "
        "seems to need it",
    },
    remedy={
        "": "end it, keep it off these cores (taskset), or race as root, so that the stacks come first",
        "raised": "end it, or keep it off these cores (taskset)",
        "needed": "if the app needs it, name it in [app] services; if not, end it",
    },
    source="Documentation/scheduler/sched-stats.rst; proc_stat(5)",
    passing=True,
)
def contention(observation: Observation) -> Finding | None:
    """Processes outside the race had the stack's cores while the stack was ready to run.

    The more processes a stack has ready, the more of a contended core it gets: the scheduler's sharing would be
    measured, and no number of slices makes up for it. What others merely find idle takes nothing away. So the
    figure is what they used of these cores, but no more than the stack's threads, all together, waited. Who wants
    less than the limit gets it from every stack alike: it is less than a fair share beside up to nine processes.
    """
    machine = observation.machine
    if not machine.stack_cores or machine.elapsed_s <= 0:
        return None
    taken_s = min(observation.foreign_on_stack_cores_s, observation.stack_wait_s)
    return contention.judge(
        taken_s / (machine.stack_cores * machine.elapsed_s),
        case="needed" if observation.needed else "",
        cure="needed" if observation.needed else "raised" if observation.raised else "",
        limits=contention.limits.only_warns if observation.needed else None,
        who=observation.offender,
        cores=observation.cores.stack_cores,
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
