"""Where the result of ``stackrace run`` goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Output"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What the flags say."""

    store: str | None = None
    """The URL of the store; None: the usual one."""
    html: Path | None = None
    """Where the HTML report is written; None: beside the results."""
    as_json: bool = False
    """Whether one JSON document is printed on stdout."""
