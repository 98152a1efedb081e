"""All that an export is made of."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.app import App
from ..model.race import Resources
from ..model.stack import Interface, Stack
from .hosting import DeployedApp
from .layout import Process
from .packages import Packages
from .target import Target

__all__ = ["Export", "Health"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is asked to see whether the stack works: a page that was right when the stack was raced or examined."""

    path: str
    host: str
    """The Host header."""
    headers: tuple[tuple[str, str], ...] = ()
    """What a TLS proxy would say, where the app wants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One stack of one app, on its target."""

    stack: Stack
    app: App
    """The user's project, where it lies now."""
    target: Target
    deployed: DeployedApp
    processes: tuple[Process, ...]
    """The last hop first, as they are started."""
    packages: Packages
    variables: tuple[str, ...]
    """The names of the app's variables; their values may be secrets, and are not here."""
    health: Health
    resources: Resources
    """What the race gave each stack, or would."""
    memory_bytes: float | None = None
    """The most that the stack held when it was measured."""
    source: str = "stackrace export"
    """What the files' heads say of where they come from."""
    distribution: str = "bookworm"
    """The code name of the Debian that it was measured on."""

    @property
    def front(self) -> Process:
        """The process that clients meet."""
        return self.processes[-1]

    @property
    def has_python(self) -> bool:
        """Whether Python runs the app; else it is plain files."""
        return self.stack.interface is not Interface.FILES
