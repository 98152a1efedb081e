"""Where the CPU time goes: by hop of the stack, services beside it apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...model.standing import Row
from .phrases import digits, names

__all__ = ["beside", "own", "reason", "total"]

_SETTINGS = re.compile(r":[^/+]*")
MOST_OF_IT = 0.5
"""A hop explains a difference when it makes up at least this share of it."""


def own(row: Row) -> dict[str, float]:
    """Return the CPU ms per request of the row's own hops, the dearest first."""
    return _part(row.stack, row.cpu_ms_per_request, inside=True)


def beside(row: Row) -> dict[str, float]:
    """Return the CPU ms per request of services such as PostgreSQL, which are no hop of the stack."""
    return _part(row.stack, row.cpu_ms_per_request, inside=False)


def total(stack: str, costs: Mapping[str, float]) -> float:
    """Return what the hops of ``stack`` cost together (CPU time, bytes), services beside it left out."""
    return sum(_part(stack, costs, inside=True).values())


def _part(stack: str, costs: Mapping[str, float], *, inside: bool) -> dict[str, float]:
    servers = set(re.split(r"[/+]", _SETTINGS.sub("", stack)))
    hops = {hop for hop in costs if servers.issuperset(hop.split("+"))} or set(costs)
    kept = {hop: cost for hop, cost in costs.items() if (hop in hops) is inside}
    return dict(sorted(kept.items(), key=lambda item: -item[1]))


def reason(rows: Sequence[Row]) -> str:
    """Say where the CPU time of the leader and of the next stack goes; nothing when none was seen."""
    spent = [sum(own(row).values()) for row in rows[:2]]
    if min(spent) <= 0:
        return ""
    second = rows[:2][-1]
    told = f"{second.stack} spends {_spending(second)}"
    if len(rows) == 1:
        return f"{told}."
    slower = second.ratio.high is not None and second.ratio.high < 1
    odd = ": it is not CPU time that sets them apart" if slower and spent[0] >= spent[1] else ""
    return f"{told}; the leader, {rows[0].stack}, spends {_spending(rows[0])}{odd}{_apart(rows[0], second)}."


def _spending(row: Row) -> str:
    """Word a row's CPU time: ``0.52 ms of CPU time per request (81 % in gunicorn, 19 % in nginx)``."""
    costs = own(row)
    spent = sum(costs.values())
    shares = [f"{round(100 * cpu_ms / spent)} % in {hop}" for hop, cpu_ms in costs.items()]
    split = f" ({', '.join(shares)})" if len(shares) > 1 else ""
    services = [f"{digits(cpu_ms)} ms in {hop}" for hop, cpu_ms in beside(row).items()]
    return f"{digits(spent)} ms of CPU time per request{split}" + (f", and {names(services)}" if services else "")


def _apart(leader: Row, second: Row) -> str:
    """Name the hop that the second stack has and the leader has not, where it makes most of the difference."""
    here, there = own(leader), own(second)
    more = sum(there.values()) - sum(here.values())
    added = {hop: cpu_ms for hop, cpu_ms in there.items() if hop not in here}
    if more <= 0 or not set(here) <= set(there):
        return ""
    for hop, cpu_ms in added.items():
        if cpu_ms >= MOST_OF_IT * more:
            return f": what {hop} takes is most of the difference"
    return ""
