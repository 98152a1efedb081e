"""Checks of the cores: others used the stack's cores, or the stack used other cores.

Others are guests of the hypervisor, other programs, the engine, and stacks that should be idle.
"""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Cause, Limits, on_slice, on_slice_and_run
from .observation import Observation

MOST_TAKEN = 0.10
"""Largest share of the stacks' cores that others may have while a stack waits."""


@on_slice_and_run(
    id="steal",
    number=10,
    cause=Cause.MACHINE,
    limits=Limits(warns=0.01, invalidates=0.05),
    of="of the machine",
    seen="the hypervisor gave {value:percent} of this machine's CPU time to others",
    remedy="{knob.quieter}",
    source="proc_stat(5), `steal`",
    passing=True,
)
def _steal(observation: Observation) -> Finding | None:
    """The hypervisor gave this machine's CPU time to others.

    Stolen time looks like a slow server, and stacks suffer unequally: when engine and stack were kept to 0.9 of a
    core, some stacks lost 19 % and one 28 %. Steal comes in waves, so measuring the slice again may help.
    """
    return _steal.judge(_share(observation, observation.machine.steal_s))


@on_slice(
    id="foreign-cpu",
    number=11,
    title="foreign CPU",
    cause=Cause.PROGRAMS,
    limits=Limits(warns=0.03),
    of="of the machine",
    seen="processes outside the race used {value:percent} of this machine's CPU time",
    remedy="end what else runs here (`stackrace doctor` names it): builds, browsers, indexers, scheduled jobs",
    source="Georges, Buytaert, Eeckhout, OOPSLA 2007; T. Kalibera, R. Jones, ISMM 2013",
)
def _foreign_cpu(observation: Observation) -> Finding | None:
    """Processes outside the race used CPU time.

    Such processes share caches and memory with stack and engine; *contention* checks if they took the cores. The
    figure is the machine's busy time minus the time of the stack, of other stacks and of Stackrace. Ticks of 10 ms
    and the instants between the readings make it uncertain by one or two per cent of a slice of 2 s.
    """
    foreign_s = (
        observation.machine.busy_s - observation.machine.own_s - observation.stack_cpu_s - observation.idle_cpu_s
    )
    return _foreign_cpu.judge(_share(observation, foreign_s))


@on_slice(
    id="contention",
    number=11,
    cause=Cause.PROGRAMS,
    limits=Limits(warns=0.05, invalidates=MOST_TAKEN),
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
        "race": "wait until that race ends",
    },
    source="Documentation/scheduler/sched-stats.rst; proc_stat(5)",
    passing=True,
)
def contention(observation: Observation) -> Finding | None:
    """Processes outside the race had the stack's cores while the stack was ready to run.

    The more processes a stack has ready, the more of a contended core it gets: the slice would measure how the
    scheduler shares cores, and no number of slices corrects that. Time that others use while the cores are idle
    takes nothing from the stack. So the figure is the time that others used of these cores, but at most the time
    that the stack's threads waited, all together. A program that needs less than the limit takes it from every
    stack alike: it is less than a fair share beside up to nine processes.
    """
    machine = observation.machine
    if not machine.stack_cores or machine.elapsed_s <= 0:
        return None
    taken_s = min(observation.foreign_on_stack_cores_s, observation.stack_wait_s)
    return contention.judge(
        taken_s / (machine.stack_cores * machine.elapsed_s),
        case="needed" if observation.needed else "",
        cure=_cure(observation),
        limits=contention.limits.only_warns if observation.needed else None,
        who=observation.offender,
        cores=observation.cores.stack_cores,
    )


def _cure(observation: Observation) -> str:
    """Return the key of the declared remedy that fits."""
    if observation.needed:
        return "needed"
    if any(each.name == "stackrace" for each in observation.offenders):
        return "race"
    return "raised" if observation.raised else ""


def _share(observation: Observation, cpu_s: float) -> float:
    return cpu_s / observation.machine.capacity_s if observation.machine.capacity_s > 0 else 0.0


@on_slice(
    id="shared-cores",
    number=9,
    effects=(Effect.WARNS,),
    threshold="none shared",
    seen="load engine and stack share {shared:cores}; CPU per request: "
    "stack {stack_us:.0f} µs, engine {engine_us:.0f} µs",
    remedy={"single": "a machine with more cores", "several": "{knob.engine_core}"},
    source="Schroeder et al., NSDI 2006",
)
def _shared_cores(observation: Observation) -> Finding | None:
    """Engine and stack compete for a core; the finding states what both cost per request.

    The faster the stack, the more the engine takes from it: differences between stacks come out too small. The
    figure is CPU time divided by right answers.
    """
    if not observation.cores.shared:
        return None
    answers = max(1, observation.result.counts.ok)
    return _shared_cores.finding(
        cure="single" if observation.machine.cores < 2 else "several",
        shared=tuple(sorted({*observation.cores.stack_cores} & {*observation.cores.generator_cores})),
        stack_us=1e6 * observation.stack_cpu_s / answers,
        engine_us=1e6 * observation.result.generator_cpu_s / answers,
    )


@on_slice(
    id="idle-stacks-busy",
    number=11,
    limits=Limits(warns=0.02),
    of="of a core",
    seen="stacks that should be idle used {value:percent} of a core",
    remedy={
        "": "look for reloaders, background threads of the app, or scheduled work",
        "debug": "the app runs in debug mode: switch it and its reloader off",
    },
    source="A. Abedi, T. Brecht, ICPE 2017, on randomised multiple interleaved trials",
)
def _idle_stacks_busy(observation: Observation) -> Finding | None:
    """Stacks that wait for their turn used CPU time.

    All stacks of a block are up at once so that their slices can alternate. That is fair only while the idle ones
    cost nothing. The usual reasons are reloaders that poll files and workers that spin.
    """
    elapsed_s = observation.machine.elapsed_s
    share = observation.idle_cpu_s / elapsed_s if elapsed_s > 0 else 0.0
    return _idle_stacks_busy.judge(share, cure="debug" if observation.debug else "")


@on_slice(
    id="beyond-its-cores",
    limits=Limits(invalidates=1.1),
    unit=Unit.RATIO,
    of="of what its cores have",
    seen="the stack used {used_s:.2f} s of CPU time, its cores have {had_s:.2f} s: a part of it ran on others",
    remedy="look for a server or an app that binds itself to cores (taskset, sched_setaffinity)",
    source="sched_setaffinity(2)",
)
def _beyond_its_cores(observation: Observation) -> Finding | None:
    """A part of the stack ran on cores that are not its own.

    A process that starts while its stack is being bound to its cores can escape, and then doubles the throughput
    unnoticed. So every stack is bound anew before each slice, and its CPU time is compared with its cores' time.
    """
    machine = observation.machine
    had_s = machine.elapsed_s * len(observation.cores.stack_cores)
    if had_s <= 0:
        return None
    used_s = observation.stack_cpu_s
    return _beyond_its_cores.judge(used_s / had_s, used_s=used_s, had_s=had_s)
