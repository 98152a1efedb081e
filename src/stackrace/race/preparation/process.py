"""Stacks here, and the load engines or the app's services on other machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...measure.engine.running import EngineRun, Play

__all__ = ["Apart", "ServicesApart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """What this machine has to know of engines that are on others."""

    host: str
    """The address of this machine on which stacks listen for them."""
    engine: Callable[[Play], EngineRun]
    """Makes a run of theirs in the place of one here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicesApart:
    """What this machine has to know of services that are on another."""

    environment: Mapping[str, str]
    """The variables that lead the app there."""
    settle: Callable[[], None]
    """Returns once they have done their maintenance, after the app has filled them."""
