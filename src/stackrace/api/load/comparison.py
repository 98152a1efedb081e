"""Two saved runs of ``stackrace load`` compared: figure by figure, with rough limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...base.numbers import Interval
from ...measure.engine.saved_run import Comparison, Saved, compare, read_saved


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """Two runs, and how they differ."""

    before: Saved
    after: Saved
    comparison: Comparison
    limits: Interval | None
    """Rough limits of the throughput's ratio; None where a run is too short to have any."""


def compare_runs(before: Path, after: Path) -> ComparedRuns:
    """Compare two documents of ``stackrace load --json``; raises InputError for a file that is none."""
    first, second = read_saved(before), read_saved(after)
    return ComparedRuns(
        before=first, after=second, comparison=compare(first, second), limits=_limits(first, second)
    )


def _limits(before: Saved, after: Saved) -> Interval | None:
    """Return the rough limits of the ratio of the throughputs over full bins."""
    from ...stats.bootstrap import throughput_ratio

    if not before.rates_per_s or not after.rates_per_s:
        return None
    return throughput_ratio(before.rates_per_s, after.rates_per_s)
