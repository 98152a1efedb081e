"""Was the server steady while it was measured?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base.numbers import percent
from ..base.verdict import Finding, Unit
from ..measure.load import LoadResult
from .declaration import Check, Declaration, Limits, Made
from .observation import Observation
from .trend import Thirds, thirds

__all__ = ["DIFFERING", "SIGNIFICANT", "differing", "not_steady"]

_SMALL = 0.01
SIGNIFICANT = 0.01

_LEAST_S = 6.0
_BLOCKS = 24
_BLOCK_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Differing:
    """What both checks on thirds declare alike."""

    limits: Limits = field(default_factory=lambda: Limits(warns=_SMALL))
    threshold: str = f"at most {percent(_SMALL)}, or p of at least {SIGNIFICANT:g}"
    rule: str = f"at most {percent(_SMALL)}, or p at least {SIGNIFICANT:g}"

    def sentence(self, span: str) -> str:
        """Return the description for the thirds of a ``span``."""
        return f"throughput {{change:moved}} of its mean between thirds of the {span} ({{p:p}})"


DIFFERING = _Differing()


@Declaration(
    id="not-steady",
    number=31,
    title="not steady",
    made=(Made.SLICE, Made.RUN),
    limits=DIFFERING.limits,
    unit=Unit.SHARE,
    threshold=DIFFERING.threshold,
    rule=DIFFERING.rule,
    seen=DIFFERING.sentence("{knob.span}"),
    remedy="a longer warm-up, or {knob.longer}",
    source="T. Kalibera, R. Jones, ISMM 2013; E. Barrett et al., OOPSLA 2017",
)
def not_steady(observation: Observation) -> Finding | None:
    """Throughput differs significantly between thirds of the slice.

    A cache fills, workers start, memory grows: then the figure depends on how long one measures. Windows under 6 s
    say too little and are left to the launch as a whole. Bins of 100 ms are joined to blocks of at least 0.5 s,
    24 at most, since neighbours resemble each other.
    """
    return differing(not_steady, thirds(_blocks(observation.result, bounded=observation.load.requests is not None)))


def differing(check: Check[Any], difference: Thirds | None) -> Finding | None:
    """Judge the thirds of a series for ``check``."""
    if difference is None or difference.p >= SIGNIFICANT:
        return None
    return check.judge(abs(difference.change), change=difference.change, p=difference.p)


def _blocks(result: LoadResult, *, bounded: bool) -> Sequence[float]:
    """Return right answers per block, without the tail of a ``bounded`` run, where connections run out of work."""
    end_s = result.duration_s - (result.latency.p99 if bounded else 0.0)
    if len(result.series) < 2 or end_s < _LEAST_S:
        return ()
    width_s = result.series[1].start_s - result.series[0].start_s
    counts = [span.ok for span in result.series if span.start_s + width_s <= end_s * (1 + 1e-9)]
    size = max(round(_BLOCK_S / width_s), len(counts) // _BLOCKS, 1)
    return [sum(counts[start : start + size]) for start in range(0, len(counts) - size + 1, size)]
