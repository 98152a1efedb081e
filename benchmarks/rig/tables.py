"""Compact tables for the terminal, and the same rows as JSON for whoever wants to go on with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return one row: the first column to the left, the others to the right, negative widths to the left, too."""
    pairs = zip(cells, widths, strict=True)
    padded = [cell.ljust(-width) if width < 0 else cell.rjust(width) for cell, width in pairs]
    return "  ".join(padded).rstrip()


def markdown(cells: Iterable[str]) -> str:
    """Return one row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def millis(seconds: float | None, bound: bool = False) -> str:
    """Return ``seconds`` in milliseconds, "-" for None, with "≥" for a lower bound."""
    if seconds is None:
        return "-"
    text = f"{seconds * 1e3:.2f}" if seconds < 1 else f"{seconds * 1e3:.0f}"
    return ("≥" if bound else "") + text


def micros(seconds: float | None) -> str:
    """Return ``seconds`` in microseconds, signed, "-" for None."""
    return "-" if seconds is None else f"{seconds * 1e6:+.0f}"


def verdict(results: Sequence[bool]) -> str:
    """Return how a goal is commented that each of ``results`` has or has not reached."""
    if not results:
        return "nothing was measured"
    return "reached" if all(results) else "MISSED"


def write_json(path: str | None, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write ``rows`` to ``path``, if there is one."""
    if path is not None:
        Path(path).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
