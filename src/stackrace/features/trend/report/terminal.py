"""A trend in the terminal."""

from __future__ import annotations

from rich.console import Console

from ....report.terminal import drawn, make_console
from ..model import Trend
from .sheet import trend_sheet

__all__ = ["print_trend"]


def print_trend(trend: Trend, console: Console | None = None) -> None:
    """Print the whole report on ``console`` (default: stdout)."""
    (console or make_console()).print(drawn(trend_sheet(trend)))
