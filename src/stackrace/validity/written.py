"""What did the stack write while it answered?"""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Unit
from .declaration import Cause, Declaration, Limits, Made
from .observation import Observation

__all__ = ["access_log", "logs_grow"]

_MIB = 2**20
_LINE_BYTES = 32
"""The shortest line of an access log is longer: a date alone has 26."""
_ENOUGH = 100
_ENOUGH_PER_CONNECTION = 20


@Declaration(
    id="access-log",
    number=34,
    title="access log",
    cause=Cause.WRITING,
    made=(Made.SLICE,),
    effects=(Effect.WARNS,),
    unit=Unit.BYTES,
    threshold="less than {limit:.0f}",
    rule=f"less than {_LINE_BYTES} bytes per answer",
    seen="the stack's files grew by {value:.0f} bytes for every answer, although its access log is off",
    remedy="does the app log every request, or its LOGGING setting print them? Switch that off, or set "
    "access_log=on in all stacks",
)
def access_log(observation: Observation) -> Finding | None:
    """Files grew by a line for every answer, although all access logs are off.

    Writing costs, in some servers as much as answering, and other stacks are spared it. A slice cuts off as many
    requests as it has connections, and some servers complain of each, in the next slice if the app is slow: with
    few answers per connection these might be taken for the lines of a log.
    """
    enough = max(_ENOUGH, _ENOUGH_PER_CONNECTION * observation.result.established_peak)
    if observation.stack is None or observation.answered < enough or _declared(observation):
        return None
    each = observation.log_bytes / observation.answered
    return None if each < _LINE_BYTES else access_log.finding(value=each, limit=_LINE_BYTES)


@Declaration(
    id="logs-grow",
    number=32,
    title="logs grow",
    cause=Cause.WRITING,
    made=(Made.SLICE,),
    limits=Limits(warns=_MIB),
    unit=Unit.BYTES_PER_SECOND,
    seen="the stack wrote {mib_per_s:.1f} MiB per second into its run directory",
    remedy={
        "": "look into its logs: does it complain about every request?",
        "declared": "leave out access_log=on where it is not what you want to measure",
    },
)
def logs_grow(observation: Observation) -> Finding | None:
    """The stack wrote a lot into its run directory.

    A disk shared with others, a full page cache and a full file system await whoever races for long.
    """
    elapsed_s = observation.machine.elapsed_s
    rate = observation.log_bytes / elapsed_s if elapsed_s > 0 else 0.0
    return logs_grow.judge(rate, cure="declared" if _declared(observation) else "", mib_per_s=rate / _MIB)


def _declared(observation: Observation) -> bool:
    return observation.stack is not None and any(
        hop.settings.get("access_log") is True for hop in observation.stack.hops
    )
