"""Who else was on the stack's cores, the engine or stacks that should be idle; and whether the stack left them."""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation

__all__ = ["beyond_its_cores", "idle_stacks_busy", "shared_cores"]


@Declaration(
    id="shared-cores",
    number=9,
    title="shared cores",
    made=(Made.SLICE,),
    effects=(Effect.WARNS,),
    threshold="none shared",
    rule="none shared",
    seen="load engine and stack share {shared:cores}; CPU per request: "
    "stack {stack_us:.0f} µs, engine {engine_us:.0f} µs",
    remedy={"single": "a machine with more cores", "several": "leave a core to the load engine alone"},
    source="Schroeder et al., NSDI 2006",
)
def shared_cores(observation: Observation) -> Finding | None:
    """Engine and stack compete for a core; the finding states what both cost per request.

    The faster the stack, the more the engine takes from it: differences between stacks come out too small. The
    figure is CPU time over right answers.
    """
    if not observation.cores.shared:
        return None
    answers = max(1, observation.result.counts.ok)
    return shared_cores.finding(
        cure="single" if observation.machine.cores < 2 else "several",
        shared=tuple(sorted({*observation.cores.stack_cores} & {*observation.cores.generator_cores})),
        stack_us=1e6 * observation.stack_cpu_s / answers,
        engine_us=1e6 * observation.result.generator_cpu_s / answers,
    )


@Declaration(
    id="idle-stacks-busy",
    number=11,
    title="idle stacks busy",
    made=(Made.SLICE,),
    limits=Limits(warns=0.02),
    unit=Unit.SHARE,
    of="of a core",
    seen="stacks that should be idle used {value:percent} of a core",
    remedy={
        "": "look for reloaders, background threads of the app, or scheduled work",
        "debug": "the app runs in debug mode: switch off DEBUG and its reloader",
    },
    source="A. Abedi, T. Brecht, ICPE 2017, on randomised multiple interleaved trials",
)
def idle_stacks_busy(observation: Observation) -> Finding | None:
    """Stacks that wait for their turn used CPU time.

    All stacks of a block are up at once so that their slices can alternate; that is fair only while the idle
    ones cost nothing. Reloaders that poll files and workers that spin are the usual reasons.
    """
    elapsed_s = observation.machine.elapsed_s
    share = observation.idle_cpu_s / elapsed_s if elapsed_s > 0 else 0.0
    return idle_stacks_busy.judge(share, cure="debug" if observation.debug else "")


@Declaration(
    id="beyond-its-cores",
    number=0,
    title="beyond its cores",
    made=(Made.SLICE,),
    limits=Limits(invalidates=1.1),
    unit=Unit.RATIO,
    of="of what its cores have",
    seen="the stack used {used_s:.2f} s of CPU time, its cores have {had_s:.2f} s: a part of it ran on others",
    remedy="look for a server or an app that binds itself to cores (taskset, sched_setaffinity)",
    source="sched_setaffinity(2)",
)
def beyond_its_cores(observation: Observation) -> Finding | None:
    """A part of the stack ran on cores that are not its own.

    A process that is born while its stack is bound to its cores escapes, and twice the throughput is believed. So
    every stack is bound anew before each slice, and what it used all the same is compared with what its cores have.
    """
    machine = observation.machine
    had_s = machine.elapsed_s * len(observation.cores.stack_cores)
    if had_s <= 0:
        return None
    used_s = observation.stack_cpu_s
    return beyond_its_cores.judge(used_s / had_s, used_s=used_s, had_s=had_s)
