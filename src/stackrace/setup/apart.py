"""Stacks here, and the load engines on other machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..load.running import EngineRun, Play

__all__ = ["Apart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """What this machine has to know of engines that are on others."""

    host: str
    """The address of this machine on which stacks listen for them."""
    engine: Callable[[Play], EngineRun]
    """Makes a run of theirs in the place of one here."""
