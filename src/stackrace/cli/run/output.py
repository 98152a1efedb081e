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
    details: bool = False
    """Whether all there is to say is printed, and not one screen of it."""
    asked: tuple[str, ...] | None = None
    """The race file and the flags that say which app this is; None where the command line does not say it."""
    session: Path | None = None
    """The recording that was given as --session."""
