"""What two runs say beside each other."""

from __future__ import annotations

import json

from ...base.numbers import Interval, number
from ...measure.engine.saved_run import Comparison, Difference, Line
from .. import figures

__all__ = ["difference", "headline", "limits", "title"]

_CAVEAT = (
    "They cover what varied within the runs, not how two starts of a server or two hours of a machine differ. "
    "To know that, race them: stackrace run."
)

_ONE_RUN = "Two runs do not show how two starts differ. To know that, race them: stackrace run."

_TITLES = {"max": "longest", "cpu_s_per_request": "engine CPU per request"}


def headline(comparison: Comparison, before: str, after: str) -> str:
    """Say by how much the throughput changed from the run ``before`` to the run ``after``."""
    ratio = comparison.lines[0].ratio
    change = "Throughput cannot be compared" if ratio is None else f"Throughput × {number(ratio)}"
    return f"{change}: {before} → {after}"


def title(line: Line) -> str:
    """Name a figure."""
    return _TITLES.get(line.name, line.name)


def difference(setting: Difference) -> str:
    """Say in what the loads themselves differ."""
    return f"The loads differ in {setting.what}: {_setting(setting.before)} → {_setting(setting.after)}"


def limits(ratio: Interval | None) -> str:
    """Say how sure the ratio of the throughputs is, and what it does not cover."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return f"The runs are too short even for rough limits, which need at least 2 s of answers. {_ONE_RUN}"
    certain = "" if ratio.low > 1 or ratio.high < 1 else ", which includes no difference"
    return f"Rough 95 % limits of the throughput's ratio: {figures.ratio_limits(ratio)}{certain}. {_CAVEAT}"


def _setting(value: object) -> str:
    return "not said" if value is None else json.dumps(value, ensure_ascii=False)
