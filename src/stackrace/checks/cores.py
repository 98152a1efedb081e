"""Who else was on the stack's cores: the engine, or stacks that should be idle."""

from __future__ import annotations

from ..model.verdict import Effect, Finding
from .judge import cores_named, judge, percent
from .observation import Observation

__all__ = ["idle_stacks_busy", "shared_cores"]


def shared_cores(seen: Observation) -> Finding | None:
    """Engine and stack compete for a core; both costs per request are told, so that the reader can judge.

    The faster the stack, the more the engine takes from it: differences between stacks come out too small.

    Source: Schroeder et al., NSDI 2006; the figure is CPU time over right answers.
    """
    if not seen.cores.shared:
        return None
    answers = max(1, seen.result.counts.ok)
    stack_us = 1e6 * seen.stack_cpu_s / answers
    engine_us = 1e6 * seen.result.generator_cpu_s / answers
    shared = tuple(sorted({*seen.cores.stack_cores} & {*seen.cores.generator_cores}))
    return Finding(
        check="shared cores",
        effect=Effect.WARNS,
        seen=f"load engine and stack share {cores_named(shared)}; CPU per request: "
        f"stack {stack_us:.0f} µs, engine {engine_us:.0f} µs",
        threshold="none shared",
        remedy="a machine with more cores" if seen.machine.cores < 2 else "leave a core to the load engine alone",
    )


def idle_stacks_busy(seen: Observation) -> Finding | None:
    """The stacks that wait for their turn used more than 2 % of a core.

    All stacks of a block are up at once so that their slices can alternate; that is fair only while the idle
    ones cost nothing. Reloaders that poll files and workers that spin are the usual reasons.

    Source: A. Abedi, T. Brecht, "Conducting repeatable experiments in highly variable cloud computing
    environments", ICPE 2017 (randomised multiple interleaved trials).
    """
    elapsed_s = seen.machine.elapsed_s
    share = seen.idle_cpu_s / elapsed_s if elapsed_s > 0 else 0.0
    return judge(
        "idle stacks busy",
        share,
        warns=0.02,
        seen=f"stacks that should be idle used {percent(share)} of a core",
        remedy="the app runs in debug mode: switch off DEBUG and its reloader"
        if seen.debug
        else "look for reloaders, background threads of the app, or scheduled work",
    )
