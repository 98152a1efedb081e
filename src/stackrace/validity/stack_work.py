"""Checks of the stack's work: it did as much as it could, and wrote no more than expected."""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Cause, Limits, on_slice
from .observation import Observation

_ENGINE_BUSY = 0.7
_MORE = 1.05
_CONCURRENCY_SETTINGS = ("processes", "workers", "threads")


@on_slice(
    id="unused-cpu",
    number=7,
    title="unused CPU",
    limits=Limits(warns=0.2),
    of="idle",
    seen="{value:percent} of the stack's cores were idle, but more clients brought no more throughput",
    remedy={
        "": "look for a lock in the app, a slow database or a full backlog",
        "setting": "raise {server}'s {setting} (now {now}); or look for a lock, a database, a backlog",
    },
    source="N. J. Gunther, Guerrilla Capacity Planning, 2007",
)
def _unused_cpu(observation: Observation) -> Finding | None:
    """Some of the stack's cores were idle, but more clients brought less than 5 % more throughput.

    Something other than the CPU is the limit: too few workers, a lock, a backend, a backlog. The check is silent if
    the throughput at the next lower concurrency is unknown, and while the engine is over 70 % busy, since it may be
    the reason then. CPU time that the engine used on shared cores is not idle, nor is time that other programs or
    the hypervisor took anywhere.
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
    return _unused_cpu.judge(idle, cure="setting" if setting else "", server=server, setting=setting, now=now)


def _too_small(observation: Observation) -> tuple[str, int]:
    """Return the host's first setting that is smaller than the concurrency, and its value; ("", 0) for none."""
    if observation.stack is not None:
        for setting in _CONCURRENCY_SETTINGS:
            chosen = observation.stack.hops[-1].settings.get(setting)
            if chosen is not None and int(chosen) < observation.load.concurrency:
                return setting, int(chosen)
    return "", 0


@on_slice(
    id="debug-mode",
    number=34,
    effects=(Effect.WARNS,),
    threshold="off",
    seen="the app runs in debug mode",
    remedy="set DEBUG = False, FLASK_DEBUG=0, or debug=False",
    source="Django, Deployment checklist, DEBUG",
)
def debug_on(observation: Observation) -> Finding | None:
    """The app runs in its debug mode, which records queries and templates and may reload.

    Debug mode makes pages several times slower, some pages more than others, and nobody deploys it.
    """
    return debug_on.finding() if observation.debug else None


_MIB = 2**20
_LINE_BYTES = 32
"""Least size in bytes of a line of an access log: a date alone has 26."""
_ENOUGH = 100
_ENOUGH_PER_CONNECTION = 20


@on_slice(
    id="access-log",
    number=34,
    cause=Cause.WRITING,
    effects=(Effect.WARNS,),
    unit=Unit.BYTES,
    threshold="less than {limit:.0f}",
    rule=f"less than {_LINE_BYTES} bytes per answer",
    seen="the stack's files grew by {value:.0f} bytes for every answer, although its access log is off",
    remedy="does the app log every request, or its LOGGING setting print them? Switch that off, or set "
    "access_log=on in all stacks",
)
def _access_log(observation: Observation) -> Finding | None:
    """Files grew by a line for every answer, although all access logs are off.

    Writing takes time, in some servers as much as answering, and other stacks do not write. A slice cuts off as
    many requests as it has connections, and some servers log a complaint about each, in the next slice if the app
    is slow. With few answers per connection these complaints might be taken for an access log.
    """
    enough = max(_ENOUGH, _ENOUGH_PER_CONNECTION * observation.result.established_peak)
    if observation.stack is None or observation.answered < enough or _logs_access(observation):
        return None
    each = observation.log_bytes / observation.answered
    return None if each < _LINE_BYTES else _access_log.finding(value=each, limit=_LINE_BYTES)


@on_slice(
    id="logs-grow",
    number=32,
    cause=Cause.WRITING,
    limits=Limits(warns=_MIB),
    unit=Unit.BYTES_PER_SECOND,
    seen="the stack wrote {mib_per_s:.1f} MiB per second into its run directory",
    remedy={
        "": "look into its logs: does it complain about every request?",
        "declared": "leave out access_log=on where it is not what you want to measure",
    },
)
def _logs_grow(observation: Observation) -> Finding | None:
    """The stack wrote a lot into its run directory.

    In a long race this leads to a busy disk shared with others, a full page cache and a full file system.
    """
    elapsed_s = observation.machine.elapsed_s
    rate = observation.log_bytes / elapsed_s if elapsed_s > 0 else 0.0
    return _logs_grow.judge(rate, cure="declared" if _logs_access(observation) else "", mib_per_s=rate / _MIB)


def _logs_access(observation: Observation) -> bool:
    return observation.stack is not None and any(
        hop.settings.get("access_log") is True for hop in observation.stack.hops
    )
