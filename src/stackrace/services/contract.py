"""What a service must say: what it needs, how its data come into being, how it is started and reached."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..model.lack import Lack

__all__ = ["DATA", "Service", "ServiceRecipe"]

DATA = "data"
"""The folder, in a service's directory, that holds all it keeps. It exists, empty, before anything is run.

Nothing in it may depend on the directory's own name: the folder is copied, and started again somewhere else.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRecipe:
    """How to start one private instance of a service."""

    command: tuple[str, ...]
    """Starts it; stays in the foreground."""
    ready: tuple[str, ...]
    """A command that succeeds once the service answers."""
    environment: Mapping[str, str]
    """Handed to the app."""
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands that are run once, before ``command``."""
    after: tuple[tuple[str, ...], ...] = ()
    """Commands that are run once it is ready."""
    settle: tuple[tuple[str, ...], ...] = ()
    """Commands that are run whenever an app has filled it, so that maintenance is done before anything is
    measured."""
    stop: signal.Signals = signal.SIGTERM
    """The signal that ends it cleanly."""


class Service(ABC):
    """One kind of service. It listens on a unix socket in its directory only, never on the network."""

    name: ClassVar[str]
    apt: ClassVar[tuple[str, ...]]
    """Debian packages that bring it."""

    @abstractmethod
    def missing(self) -> str:
        """Say what is not installed; empty when nothing is missing."""

    def lack(self) -> Lack | None:
        """Return what is not installed here, None where it is ready."""
        return Lack(name=self.name, missing=missing, packages=self.apt) if (missing := self.missing()) else None

    @abstractmethod
    def version(self) -> tuple[str, ...]:
        """Return the command that prints the server's version."""

    @abstractmethod
    def recipe(self, directory: Path) -> ServiceRecipe:
        """Say how to start an instance in ``directory``, which is private and holds an empty ``DATA``; pure."""
