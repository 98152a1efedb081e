"""What the winner costs, in one or two sentences."""

from __future__ import annotations

from ...base.numbers import mebibytes, number
from ...race.results.costs import Costs, Need
from .phrases import names, share, times

__all__ = ["costs"]


def costs(needs: Costs | None, *, short: bool = False) -> str:
    """Return the sentences; empty where no cost is known.

    ``short`` leaves out limits and what tables show, and of two sentences the first: a screen has a line for them.
    """
    if needs is None:
        return ""
    parts = [_instead(needs.first, needs.cheaper, equal=needs.equal, short=short)] if needs.cheaper else []
    if needs.cheaper is None or needs.cheaper.stack != needs.second.stack:
        parts.insert(0, _against(needs, short=short))
    return " ".join(part for part in (parts[-1:] if short else parts) if part)


def _against(needs: Costs, *, short: bool) -> str:
    first, second = needs.first, needs.second
    shares = _shares(first, second, short=short)
    if not shares:
        return ""
    if needs.ratio is not None and not short:
        return f"For {times(needs.ratio)} the throughput of {second.stack}, {first.stack} needs {names(shares)}."
    return f"Against {second.stack}, {first.stack} needs {names(shares)}."


def _instead(first: Need, cheaper: Need, *, equal: bool, short: bool) -> str:
    shares = names(_shares(cheaper, first, short=short))
    if equal:
        return f"{cheaper.stack} has as much throughput, and needs {shares}."
    return f"{cheaper.stack} has no proven difference in throughput from {first.stack} and needs {shares}."


def _shares(need: Need, other: Need, *, short: bool) -> list[str]:
    """Word a need as a share of another stack's, memory first."""
    shares = []
    if need.memory_bytes and other.memory_bytes:
        figures = f" ({mebibytes(need.memory_bytes)} MiB against {mebibytes(other.memory_bytes)} MiB)"
        shares.append(f"{_of(need.memory_bytes / other.memory_bytes)} memory{'' if short else figures}")
    if need.cpu_ms_per_request and other.cpu_ms_per_request:
        figures = f" ({number(need.cpu_ms_per_request)} ms against {number(other.cpu_ms_per_request)} ms)"
        ratio = need.cpu_ms_per_request / other.cpu_ms_per_request
        shares.append(f"{_of(ratio)} CPU time{'' if short else f' per request{figures}'}")
    return shares


def _of(ratio: float) -> str:
    """Word a ratio with its article: ``a third of the``, ``about the same``."""
    return f"{share(ratio)}the" if abs(ratio - 1) >= 0.05 else "about the same"
