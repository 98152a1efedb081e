"""Lies that no single slice shows: from launch to launch, from stack to stack."""

from __future__ import annotations

from .fault import Fault, Found, How, in_race
from .racing import liar, runs, slices

__all__ = ["FAULTS"]


def _restless() -> Found:
    return in_race(slices(liar("restless"), liar("truth"), budget_s=9.0))


FAULTS: tuple[Fault, ...] = (
    Fault(
        name="restless",
        does="a stack works while another is measured",
        expects=("idle stacks busy",),
        how=How.REAL,
        inject=_restless,
    ),
    Fault(
        name="padded",
        does="answers of another size than the other stack's",
        expects=("answer sizes",),
        how=How.REAL,
        inject=lambda: in_race(runs(liar("padded"), liar("truth"))),
    ),
)
