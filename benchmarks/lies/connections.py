"""Connections that are refused, dropped, starved or never served."""

from __future__ import annotations

from .fault import Fault
from .telling import told

__all__ = ["FAULTS"]

FAULTS: tuple[Fault, ...] = (
    told("silent-close", "closes after 20 answers without a word", "reconnects"),
    told("starved", "half of the connections wait", "fairness", seconds=3.0),
    told("hang-some", "every fourth connection hangs", "timeouts", seconds=2.0),
    told("hang-all", "all connections hang after 50 answers", "unfinished requests", "timeouts", timeout_s=10.0),
    told("tiny-backlog", "listen(1) before 64 clients", "listen overflows", "SYN retransmits",
         concurrency=(64,), seconds=2.0),
    told("few-clients", "lets 4 of 16 clients in", "established connections", "listen overflows",
         concurrency=(16,), seconds=2.0),
    told("few-files", "has file descriptors for a few clients only", "descriptors exhausted", "timeouts",
         "established connections", concurrency=(32,), seconds=2.5),
    told("lumpy-connect", "some answers come a second late", "latency lumps", seconds=3.0, timeout_s=5.0),
)  # fmt: skip
