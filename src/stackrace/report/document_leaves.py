"""How the JSON document of a race writes records down."""

from __future__ import annotations

import math
import re
from typing import Any, get_args

from ..base.codec import LEFT_OUT, Form, readable
from ..base.interval import Interval
from ..base.printable import printable
from ..features.current.model import CurrentChange, CurrentDeployment, CurrentGap
from ..features.current.result import CurrentStanding
from ..measure.conditions import Conditions
from ..measure.host import HostFacts
from ..measure.launch import HopUsage
from ..measure.load import Counts, Load, LoadResult, Quantiles, SeriesBin, TargetResult
from ..measure.network import NetworkPath
from ..race.results.answer import Answer
from ..race.results.costs import Costs, Need
from ..race.results.lead import Lead
from ..race.results.reason import CpuTime, Reason
from ..race.results.sensitivity import Condition
from ..race.results.standing import Row
from ..stacks.facts import StackFacts
from ..stats.values.machines import MachineComparison, RatioShift
from ..stats.values.scaling import Unfit

__all__ = ["FORM", "RECORDS", "plain", "whole"]

_SECONDS = ("mean", "p50", "p90", "p99", "p999", "max")

FORM = Form(
    names={
        Load: {"seed": LEFT_OUT},
        # both have units in the document
        Row: dict.fromkeys(("throughput_per_s", "latency_limits"), LEFT_OUT),
        # it stands among the withdrawals
        CurrentStanding: {"failure": LEFT_OUT},
        Quantiles: {name: f"{name}_s" for name in _SECONDS},
        # a moment of the machine's own clock, what only the store keeps, and what is written when asked for
        LoadResult: dict.fromkeys(("started_at", "histogram", "series"), LEFT_OUT),
    },
    text=printable,
)


def _snake(name: str) -> str:
    return re.sub(r"\B([A-Z])", r"_\1", name).lower()


RECORDS: dict[str, type] = {
    "load": Load,
    "latency": Quantiles,
    "counts": Counts,
    "target": TargetResult,
    "bin": SeriesBin,
    "slice": LoadResult,
    "usage": HopUsage,
    "conditions": Conditions,
    "host": HostFacts,
    "network_path": NetworkPath,
    "stack": StackFacts,
    "interval": Interval,
    "answer": Answer,
    "lead": Lead,
    "reason": Reason,
    "cpu_time": CpuTime,
    "costs": Costs,
    "need": Need,
    "current": CurrentStanding,
    "deployment": CurrentDeployment,
    "deployment_change": CurrentChange,
    "deployment_gap": CurrentGap,
    "unfit": Unfit,
    "machine_comparison": MachineComparison,
    "ratio_shift": RatioShift,
    **{_snake(kind.__name__): kind for kind in get_args(Condition)},
}
"""What the definitions of the published schema are derived from; a slice has members beside its result's."""


def plain(value: object) -> Any:
    """Return what a record of the model holds as JSON: text made printable, other than finite numbers null."""
    return readable(value, FORM)


def whole(value: float | None) -> float | None:
    """Return ``value``, or None for what JSON cannot hold."""
    return value if value is not None and math.isfinite(value) else None
