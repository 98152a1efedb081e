"""How often a stack's app was asked, by its own count."""

from __future__ import annotations

from pathlib import Path

from ..base.files import read_bytes

__all__ = ["COUNT", "served"]

COUNT = "count"
"""The folder in a host's directory where each of its processes keeps its number; see ``apps.counting``."""


def served(directory: Path) -> int | None:
    """Return the sum of all counts below a launch's ``directory``; None where nothing was counted, ever."""
    total = None
    for path in directory.glob(f"*/{COUNT}/*"):
        try:
            total = (total or 0) + int.from_bytes(read_bytes(path)[:8], "little")
        except OSError:
            continue
    return total
