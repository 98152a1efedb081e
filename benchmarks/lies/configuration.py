"""Stacks that are not what they declare to be."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from stackrace.app.app import Entry, EntryKind
from stackrace.deploy.local_machine import LocalMachine
from stackrace.deploy.machine import Launched
from stackrace.stacks.stack import Stack

from .fault import Fault, Found, fault, in_race
from .racing import runs, told

ONE, MANY = 1, 8
DEBUGGED = {
    "entry": Entry(kind=EntryKind.DJANGO, target="debugged"),
    "python": Path(sys.executable),
}
"""Our own environment has Django."""


class Swapped(LocalMachine):
    """Somebody mixed up the files: who declares one worker starts with eight, and the other way round."""

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """Start ``stack`` with the other's number of workers, under its own name."""
        hop = stack.hops[0]
        workers = ONE + MANY - int(hop.settings["workers"])
        other = replace(hop, settings={**hop.settings, "workers": workers})
        return super().launch(replace(stack, hops=(other,)), timeout_s)


def _gunicorn(*workers: int) -> Found:
    return in_race(runs(*(f"gunicorn:workers={number}" for number in workers), machine=Swapped))


def _with(arguments: str) -> Found:
    """Race gunicorn where the environment tells it more than its declaration does."""
    return in_race(runs("gunicorn:workers=2", environment={"GUNICORN_CMD_ARGS": arguments}))


FAULTS: tuple[Fault, ...] = (
    fault("fewer-workers", "gunicorn has 1 worker of 8", "other configuration", inject=lambda: _gunicorn(MANY)),
    fault("more-workers", "gunicorn has 8 workers for 1", "other configuration", inject=lambda: _gunicorn(ONE)),
    fault("swapped", "two stacks with each other's configuration", "other configuration",
          inject=lambda: _gunicorn(ONE, MANY)),
    fault("reloader", "GUNICORN_CMD_ARGS says --reload", "reloader", inject=lambda: _with("--reload")),
    told("access-log", "writes a line per request", "access log"),
    fault("debug-mode", "the app runs with DEBUG = True", "debug mode",
          inject=lambda: in_race(runs("liar", **DEBUGGED))),
)  # fmt: skip
