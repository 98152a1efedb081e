"""How each stack's throughput grows with the connections: its knee, and the law that the curve follows."""

from __future__ import annotations

from collections.abc import Sequence

from ..stats import scaling as law
from ..stats.values.scaling import ScalingCurve, Unfit
from .judged_level import JudgedLevel

__all__ = ["curves"]


def curves(levels: Sequence[JudgedLevel]) -> tuple[ScalingCurve, ...]:
    """Return a curve for each stack and workload that was measured at two levels of a closed loop or more.

    Levels with a connection per request have curves of their own. A block without a value at some level counts
    where it has one.
    """
    series: dict[tuple[str, bool, str], dict[int, Sequence[float]]] = {}
    for judged in sorted(levels, key=lambda level: level.measured.load.concurrency):
        load = judged.measured.load
        if load.is_open:
            continue
        for stack, values in zip(judged.stacks, judged.measured.values, strict=True):
            series.setdefault((*judged.series, stack), {})[load.concurrency] = values
    return tuple(_curve(*key, curve) for key, curve in series.items() if len(curve) > 1)


def _curve(workload: str, keep_alive: bool, stack: str, curve: dict[int, Sequence[float]]) -> ScalingCurve:
    levels, values = tuple(curve), tuple(curve.values())
    knee = law.knee(levels, values)
    fitted = law.fit(levels, values)
    unfit = fitted if isinstance(fitted, Unfit) else None
    return ScalingCurve(
        stack=stack,
        workload=workload,
        keep_alive=keep_alive,
        levels=levels,
        knee=None if knee is None else levels[knee],
        law=None if isinstance(fitted, Unfit) else fitted,
        unfit=unfit,
    )
