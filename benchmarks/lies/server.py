"""Servers that change while they are measured, or do not do what they could."""

from __future__ import annotations

from .fault import Fault, Found, How, in_race
from .racing import liar, runs
from .telling import told

__all__ = ["FAULTS"]


def _serial() -> Found:
    return in_race(runs(liar("serial"), concurrency=(2, 8), seconds=1.5))


FAULTS: tuple[Fault, ...] = (
    told("slower", "each request takes longer than the one before", "not steady", seconds=3.0),
    told("leak", "keeps 32 KiB of every request", "memory grows", seconds=3.0),
    told("log-flood", "2 kB of log per request", "logs grow", seconds=2.0),
    told("pausing", "stands still for a quarter of a second", "not steady", "latency lumps", how=How.TIMED),
    told("never-ready", "listens and never answers", "never became ready", budget_s=15.0),
    told("dies-at-start", "ends at its start", "did not start"),
    told("dies-under-load", "ends after 500 requests", "died under load"),
    Fault(
        name="serial",
        does="a lock lets one request in at a time",
        expects=("unused CPU",),
        how=How.REAL,
        inject=_serial,
    ),
)
