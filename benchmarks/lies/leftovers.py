"""What stays when it should have gone."""

from __future__ import annotations

from .fault import Fault
from .telling import told

__all__ = ["FAULTS"]


FAULTS: tuple[Fault, ...] = (
    told("ignores-term", "does not end when told to", "ignored the request to stop"),
    told("survivor", "leaves a process with a session of its own", "leftover processes",
         "ignored the request to stop"),
    told("more-processes", "a child per 200 requests, none ends", "processes grow", "other configuration",
         "memory grows", seconds=2.0),
)  # fmt: skip
