"""How the JSON document of a race writes records down."""

from __future__ import annotations

import math
import re
from typing import Any, get_args

from ..codec import LEFT_OUT, Form, readable
from ..model.answer import Answer
from ..model.conditions import Conditions
from ..model.costs import Costs, Need
from ..model.current import CurrentChange, CurrentDeployment, CurrentGap
from ..model.current_standing import CurrentStanding
from ..model.host import HostFacts
from ..model.interval import Interval
from ..model.launch import HopUsage
from ..model.lead import Lead
from ..model.load import Counts, Load, LoadResult, Quantiles, SeriesBin, TargetResult
from ..model.machines import MachineComparison, RatioShift
from ..model.network import NetworkPath
from ..model.printable import printable
from ..model.race import StackFacts
from ..model.reason import CpuTime, Reason
from ..model.scaling import Unfit
from ..model.sensitivity import Condition
from ..model.standing import Row

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
