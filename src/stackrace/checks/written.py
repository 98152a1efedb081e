"""What did the stack write while it answered?"""

from __future__ import annotations

from ..model.verdict import Effect, Finding
from .judge import judge
from .observation import Observation

__all__ = ["access_log", "logs_grow"]

_MIB = 2**20
_LINE_BYTES = 32
"""The shortest line of an access log is longer: a date alone has 26."""
_ENOUGH = 100
_ENOUGH_PER_CONNECTION = 20


def access_log(seen: Observation) -> Finding | None:
    """Files grew by a line for every answer, though no hop of the stack says that it keeps an access log.

    Writing costs, in some servers as much as answering, and other stacks are spared it. A slice cuts off as many
    requests as it has connections, and some servers complain of each (uWSGI in 293 bytes), in the next slice if the
    app is slow: with less than 20 answers per connection these might be taken for the lines of a log.

    Source: Apache HTTP Server, "Log Files"; nginx, ngx_http_log_module.
    """
    enough = max(_ENOUGH, _ENOUGH_PER_CONNECTION * seen.result.established_peak)
    if seen.stack is None or seen.answered < enough or _declared(seen):
        return None
    each = seen.log_bytes / seen.answered
    if each < _LINE_BYTES:
        return None
    return Finding(
        check="access log",
        effect=Effect.WARNS,
        seen=f"the stack's files grew by {each:.0f} bytes for every answer, though its access log is off",
        threshold=f"less than {_LINE_BYTES}",
        remedy="does the app log every request, or its LOGGING setting print them? Switch that off, or say "
        "access_log=on in all stacks",
    )


def logs_grow(seen: Observation) -> Finding | None:
    """The stack wrote over 1 MiB per second into its run directory.

    A disk shared with others, a full page cache and a full file system await whoever races for long.

    Source: none needed.
    """
    elapsed_s = seen.machine.elapsed_s
    rate = seen.log_bytes / elapsed_s if elapsed_s > 0 else 0.0
    return judge(
        "logs grow",
        rate,
        warns=_MIB,
        seen=f"the stack wrote {rate / _MIB:.1f} MiB per second into its run directory",
        remedy="leave out access_log=on where it is not what you want to measure"
        if _declared(seen)
        else "look into its logs: does it complain about every request?",
        unit=lambda limit: f"{limit / _MIB:.0f} MiB/s",
    )


def _declared(seen: Observation) -> bool:
    return seen.stack is not None and any(hop.settings.get("access_log") is True for hop in seen.stack.hops)
