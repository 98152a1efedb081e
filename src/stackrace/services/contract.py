"""What a service must say: what it needs, how its data come into being, how it is started and reached."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

__all__ = ["DATA", "Service", "ServiceRecipe"]

DATA = "data"
"""The folder, in a service's directory, that holds all it keeps. It exists, empty, before anything is run.

Nothing in it may depend on the directory's own name: the folder is copied, and started again somewhere else.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRecipe:
    """How to start one private instance.

    ``prepare`` are commands run once before; ``command`` stays in the foreground. ``ready`` is a command that
    succeeds once the service answers. ``after`` are run once it is ready; ``settle`` whenever an app has filled
    it, so that what maintenance would do later is done before anything is measured. ``environment`` is handed
    to the app, ``stop`` ends it cleanly.
    """

    command: tuple[str, ...]
    ready: tuple[str, ...]
    environment: Mapping[str, str]
    prepare: tuple[tuple[str, ...], ...] = ()
    after: tuple[tuple[str, ...], ...] = ()
    settle: tuple[tuple[str, ...], ...] = ()
    stop: signal.Signals = signal.SIGTERM


class Service(ABC):
    """One kind of service. It listens on a unix socket in its directory only, never on the network."""

    name: ClassVar[str]
    apt: ClassVar[tuple[str, ...]]
    """Debian packages that bring it."""

    @abstractmethod
    def missing(self) -> str:
        """Say what is not installed; empty when nothing is missing."""

    @abstractmethod
    def version(self) -> tuple[str, ...]:
        """Return the command that prints the server's version."""

    @abstractmethod
    def recipe(self, directory: Path) -> ServiceRecipe:
        """Say how to start an instance in ``directory``, which is private and holds an empty ``DATA``; pure."""
