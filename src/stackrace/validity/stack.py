"""Did the stack do what it could?"""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation

__all__ = ["debug_on", "unused_cpu"]

_ENGINE_BUSY = 0.7
_MORE = 1.05
_CONCURRENCY_SETTINGS = ("processes", "workers", "threads")


@Declaration(
    id="unused-cpu",
    number=7,
    title="unused CPU",
    made=(Made.SLICE,),
    limits=Limits(warns=0.2),
    unit=Unit.SHARE,
    of="idle",
    seen="{value:percent} of the stack's cores were idle, but more clients brought no more throughput",
    remedy={
        "": "look for a lock in the app, a slow database or a full backlog",
        "setting": "raise {server}'s {setting} (now {now}); or look for a lock, a database, a backlog",
    },
    source="N. J. Gunther, Guerrilla Capacity Planning, 2007",
)
def unused_cpu(observation: Observation) -> Finding | None:
    """Some of the stack's cores were idle, but more clients brought less than 5 % more throughput.

    Something other than the CPU is the limit: too few workers, a lock, a backend, a backlog. Silent unless
    the throughput at the next lower concurrency is known, and while the engine is over 70 % busy, since then
    it may be the reason. On shared cores what the engine used is no longer there for the stack, nor
    anywhere what other programs or the hypervisor took.
    """
    if (
        not observation.before_per_s
        or observation.result.generator_busy > _ENGINE_BUSY
        or observation.machine.elapsed_s <= 0
    ):
        return None
    if observation.result.throughput_per_s > _MORE * observation.before_per_s:
        return None
    cores_s = len(observation.cores.stack_cores) * observation.machine.elapsed_s
    used_s = observation.stack_cpu_s + (observation.result.generator_cpu_s if observation.cores.shared else 0.0)
    spare_s = observation.machine.capacity_s - observation.machine.busy_s - observation.machine.steal_s
    idle = min(cores_s - used_s, spare_s) / cores_s if cores_s > 0 else 0.0
    setting, now = _too_small(observation)
    server = observation.stack.hops[-1].server if observation.stack else ""
    return unused_cpu.judge(idle, cure="setting" if setting else "", server=server, setting=setting, now=now)


def _too_small(observation: Observation) -> tuple[str, int]:
    """Return the host's first setting that is smaller than the concurrency, and its value; ("", 0) for none."""
    if observation.stack is not None:
        for setting in _CONCURRENCY_SETTINGS:
            chosen = observation.stack.hops[-1].settings.get(setting)
            if chosen is not None and int(chosen) < observation.load.concurrency:
                return setting, int(chosen)
    return "", 0


@Declaration(
    id="debug-mode",
    number=34,
    title="debug mode",
    made=(Made.SLICE,),
    effects=(Effect.WARNS,),
    threshold="off",
    rule="off",
    seen="the app runs in debug mode",
    remedy="set DEBUG = False in the settings that the race uses",
    source="Django, Deployment checklist, DEBUG",
)
def debug_on(observation: Observation) -> Finding | None:
    """The app runs in its debug mode, which records queries and templates and may reload.

    It costs a multiple, more on some pages than on others, and nobody deploys it.
    """
    return debug_on.finding() if observation.debug else None
