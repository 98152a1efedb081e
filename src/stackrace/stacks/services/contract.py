"""What a service must say: what it needs, how its data come into being, how it is started and reached."""

from __future__ import annotations

import os
import shutil
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ...base.lack import Lack

__all__ = [
    "DATA",
    "FOLDERS",
    "Service",
    "ServiceRecipe",
    "find",
    "lacking",
    "program",
]

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
    """One kind of service. It listens on a unix socket in its directory only."""

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


FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where Debian has programs that no user's PATH names."""


def find(name: str, *folders: Path) -> str | None:
    """Return the absolute path of a program, looking in ``folders`` first, then on PATH and in the sbin folders."""
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", ""), *FOLDERS])
    return shutil.which(name, path=path)


def program(name: str) -> str:
    """Return the absolute path of a program, its bare name where it is not installed."""
    return find(name) or name


def lacking(*names: str) -> str:
    """Say which of the programs are not installed; empty when all are."""
    missing = [name for name in names if find(name) is None]
    return f"no program {', '.join(missing)}" if missing else ""
