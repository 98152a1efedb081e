"""Export as one self-contained HTML page: no network, no scripts; for paper, the dark and phones too."""

from __future__ import annotations

from .page import export

__all__ = ["export"]
