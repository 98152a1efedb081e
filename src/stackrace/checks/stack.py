"""Did the stack do what it could?"""

from __future__ import annotations

from ..model.verdict import Effect, Finding
from .judge import judge, percent
from .observation import Observation

__all__ = ["debug_on", "unused_cpu"]


def unused_cpu(seen: Observation) -> Finding | None:
    """More clients brought less than 5 % more throughput, while a fifth of the stack's cores stood idle.

    Something other than the CPU is the limit: too few workers, a lock, a backend, a backlog. Silent unless
    the throughput at the next lower concurrency is known, and while the engine is over 70 % busy, since then
    it may be the reason. On shared cores what the engine used is no longer there for the stack, nor
    anywhere what other programs or the hypervisor took.

    Source: N. J. Gunther, "Guerrilla Capacity Planning", 2007, on contention that caps throughput.
    """
    if not seen.before_per_s or seen.result.generator_busy > 0.7 or seen.machine.elapsed_s <= 0:
        return None
    if seen.result.throughput_per_s > 1.05 * seen.before_per_s:
        return None
    cores_s = len(seen.cores.stack_cores) * seen.machine.elapsed_s
    used_s = seen.stack_cpu_s + (seen.result.generator_cpu_s if seen.cores.shared else 0.0)
    spare_s = seen.machine.capacity_s - seen.machine.busy_s - seen.machine.steal_s
    idle = min(cores_s - used_s, spare_s) / cores_s if cores_s > 0 else 0.0
    return judge(
        "unused CPU",
        idle,
        warns=0.2,
        seen=f"{percent(idle)} of the stack's cores stood idle, yet more clients brought no more throughput",
        remedy=_more_workers(seen),
    )


def _more_workers(seen: Observation) -> str:
    if seen.stack is not None:
        host = seen.stack.hops[-1]
        for knob in ("processes", "workers", "threads"):
            chosen = host.settings.get(knob)
            if chosen is not None and int(chosen) < seen.load.concurrency:
                return f"raise {host.server}'s {knob} (now {chosen}); or look for a lock, a database, a backlog"
    return "look for a lock in the app, a slow database or a full backlog"


def debug_on(seen: Observation) -> Finding | None:
    """The app runs in its debug mode, which records queries and templates and may reload.

    It costs a multiple, more on some pages than on others, and nobody deploys it.

    Source: Django, "Deployment checklist", DEBUG.
    """
    if not seen.debug:
        return None
    return Finding(
        check="debug mode",
        effect=Effect.WARNS,
        seen="the app runs in debug mode",
        threshold="off",
        remedy="set DEBUG = False in the settings that the race uses",
    )
