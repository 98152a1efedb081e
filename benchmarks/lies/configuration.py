"""Stacks that are not what they declare to be."""

from __future__ import annotations

import sys
from pathlib import Path

from stackrace.model.app import Entry, EntryKind

from .fault import Fault, How, in_race
from .racing import runs
from .telling import told

__all__ = ["FAULTS"]

DEBUGGED = {
    "entry": Entry(kind=EntryKind.DJANGO, target="debugged"),
    "python": Path(sys.executable),
}
"""Our own environment has Django."""

FAULTS: tuple[Fault, ...] = (
    told("half-of-them", "starts 2 of 4 workers", "other configuration", workers=4),
    told("one-more", "starts 4 workers for 2", "other configuration", workers=2),
    told("access-log", "writes a line per request", "access log", "logs grow"),
    told("reloader", "looks at every module's file ten times a second", "reloader", "idle stacks busy"),
    Fault(
        name="debug-mode",
        does="the app runs with DEBUG = True",
        expects=("debug mode",),
        how=How.REAL,
        inject=lambda: in_race(runs("liar", **DEBUGGED)),
    ),
)
