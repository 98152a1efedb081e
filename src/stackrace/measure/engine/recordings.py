"""What several engines recorded of one load, merged exactly."""

from __future__ import annotations

from collections.abc import Sequence

from stackrace.base.errors import InputError
from stackrace.measure.load import LoadResult

from . import _engine
from .outcome import outcome

__all__ = ["merged"]


def merged(recordings: Sequence[tuple[bytes, float]], ceiling_per_s: float | None = None) -> LoadResult:
    """Return what the engines saw together; each recording comes with the seconds to add to its clock.

    Histograms are added bucket by bucket before any quantile is taken, so it is as if one engine had recorded all.
    Raises InputError for bytes that are no recording of this version, and for recordings of different loads.
    """
    try:
        joined = _engine.join([(data, round(shift_s * 1e9)) for data, shift_s in recordings])
        return outcome(joined, ceiling_per_s)
    except (ValueError, OverflowError) as error:
        raise InputError(f"the engines' recordings cannot be merged: {error}") from error
