"""Was the server steady while it was measured?"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.load import LoadResult
from ..model.verdict import Effect, Finding
from .judge import percent
from .observation import Observation
from .trend import Thirds, thirds

__all__ = ["SIGNIFICANT", "SMALL", "differing", "not_steady"]

SMALL = 0.01
SIGNIFICANT = 0.01

_LEAST_S = 6.0
_BLOCKS = 24
_BLOCK_S = 0.5


def not_steady(seen: Observation) -> Finding | None:
    """Throughput differs by over 1 % between thirds of the window, and not by chance (p < 0.01).

    A cache fills, workers start, memory grows: then the figure depends on how long one measures. Windows under 6 s
    say too little and are left to the launch as a whole. Bins of 100 ms are joined to blocks of at least 0.5 s,
    24 at most, since neighbours resemble each other.

    Source: T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, on reaching an independent
    state; E. Barrett et al., "Virtual machine warmup blows hot and cold", OOPSLA 2017.
    """
    found = thirds(_blocks(seen.result, bounded=seen.load.requests is not None))
    return differing(found, span=seen.words.span, remedy=f"a longer warm-up, or {seen.words.longer}")


def differing(found: Thirds | None, *, span: str, remedy: str) -> Finding | None:
    """Judge the thirds of a ``span``."""
    if found is None or abs(found.change) <= SMALL or found.p >= SIGNIFICANT:
        return None
    return Finding(
        check="not steady",
        effect=Effect.WARNS,
        seen=f"throughput {'rose' if found.change > 0 else 'fell'} by {percent(abs(found.change))} of its mean "
        f"between thirds of the {span} (p = {found.p:.1g})",
        threshold="at most 1 %, or p of at least 0.01",
        remedy=remedy,
    )


def _blocks(result: LoadResult, *, bounded: bool) -> Sequence[float]:
    """Return right answers per block, without the tail of a ``bounded`` run, where connections run out of work."""
    end_s = result.duration_s - (result.latency.p99 if bounded else 0.0)
    if len(result.series) < 2 or end_s < _LEAST_S:
        return ()
    width_s = result.series[1].start_s - result.series[0].start_s
    counts = [one.ok for one in result.series if one.start_s + width_s <= end_s * (1 + 1e-9)]
    size = max(round(_BLOCK_S / width_s), len(counts) // _BLOCKS, 1)
    return [sum(counts[start : start + size]) for start in range(0, len(counts) - size + 1, size)]
