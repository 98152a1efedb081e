"""Whether memory grows with every request, or was only larger from the beginning."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import median

from ...measure.launch import Launch
from ...race.warmup import REWARM_S
from .model import Growth
from .series import Pair, slices_of
from .stats import mean_of

__all__ = ["growth_of"]

_DOUBT = 0.025
"""How often growth may be seen where there is none: of the head's own slope, and of its excess over the base's."""


def growth_of(pairs: Sequence[Pair]) -> Growth | None:
    """Return the mean slopes of memory over requests within launches, base's and head's.

    They are proved where the head's is above 0 and above the base's, each by its lower t limit over the launches.
    None where fewer than three pairs of launches have slopes.

    Source: as for the check of growing memory, H. Theil, 1950; P. K. Sen, JASA 63 (1968) 1379–1389.
    """
    slopes = [(_slope(base), _slope(head)) for base, head in pairs]
    known = [(base, head) for base, head in slopes if base is not None and head is not None]
    if len(known) < _LEAST:
        return None
    untrimmed = len(known) + 1
    base, head, more = (
        mean_of(values, untrimmed)
        for values in ([each for each, _ in known], [each for _, each in known], [h - b for b, h in known])
    )
    return Growth(
        base_bytes=base.value,
        head_bytes=head.value,
        proved=min(head.low(_DOUBT, 1.0), more.low(_DOUBT, 1.0)) > 0,
    )


_LEAST = 3


def _slope(launch: Launch) -> float | None:
    """Return the median slope between slices, in bytes per request; what comes before the first is warm-up."""
    served, points = 0.0, []
    for each in sorted(slices_of(launch), key=lambda one: one.index):
        result = each.result
        served += result.counts.ok * (1 + REWARM_S / result.duration_s)
        points.append((served, float(sum(hop.pss_bytes for hop in each.usage))))
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if b[0] > a[0]]
    return median(slopes) if slopes else None
