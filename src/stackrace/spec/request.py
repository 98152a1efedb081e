"""What the user asks for, before anything is looked up: the race file and the flags, merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..model.app import Entry
from ..model.race import Question

__all__ = ["RaceRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRequest:
    """One race as asked for. None means: not said, so detected or defaulted later.

    ``folder`` is what relative paths are relative to; ``source`` the race file, for messages. ``bundled`` names
    a bundled app in place of an entry. ``headers`` are sent with every request. ``stacks`` are paths as written;
    ``servers`` is a folder with catalogue entries of the user's own.
    """

    folder: Path
    source: Path | None = None
    entry: Entry | None = None
    python: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    static: Mapping[str, Path] | None = None
    prepare: tuple[tuple[str, ...], ...] = ()
    services: tuple[str, ...] = ()
    urls: tuple[str, ...] | None = None
    host: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    concurrency: tuple[int, ...] | None = None
    keep_alive: bool = True
    timeout_s: float = 10.0
    question: Question = Question.WINNER
    difference: float = 0.05
    budget_s: float | None = None
    slice_s: float | None = None
    seed: int | None = None
    stacks: tuple[str, ...] | None = None
    bundled: str | None = None
    servers: Path | None = None
