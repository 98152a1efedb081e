"""A rerun in the terminal."""

from __future__ import annotations

from rich.console import Console

from ....report.terminal import drawn, make_console
from ..rerun import Rerun
from .sheet import rerun_sheet

__all__ = ["print_rerun"]

_WIDTH = 100
"""Columns at most: a report that is read beside another one."""


def print_rerun(rerun: Rerun, console: Console | None = None) -> None:
    """Print the whole report on ``console`` (default: stdout)."""
    console = console or make_console()
    console.print(drawn(rerun_sheet(rerun)), width=min(console.width, _WIDTH))
