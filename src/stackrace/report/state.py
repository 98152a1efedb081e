"""What the live view shows, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.launch import Failure
from ..model.standing import Standing

__all__ = ["LiveState", "Mishap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishap:
    """A launch that failed, as it happens."""

    stack: str
    block: int
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """A race at one moment.

    ``phase`` says what is being done ("warming up", "measuring at c=20"); ``block`` counts from 1, is 0
    before the first. ``eta_s`` is the time left, None while unknown; ``mishaps`` holds all failures so far.
    """

    phase: str
    block: int = 0
    slices_done: int = 0
    slices_planned: int = 0
    elapsed_s: float = 0.0
    eta_s: float | None = None
    stack: str = ""
    standing: Standing | None = None
    mishaps: tuple[Mishap, ...] = ()
