"""All that an export is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...app.app import App
from ...measure.resources import Resources
from ...stacks.stack import Interface, Stack
from .hosting import DeployedApp
from .layout import Process
from .packages import Packages
from .target import Target

__all__ = ["Django", "Export", "Health"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is asked to see whether the stack works: a page that was right when the stack was raced or examined."""

    path: str
    host: str
    """The Host header."""
    headers: tuple[tuple[str, str], ...] = ()
    """What a TLS proxy would say, where the app wants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Django:
    """What a Django project's settings say of its deployment; folders are those of the target."""

    settings: str
    """Their module."""
    has_manage: bool = True
    """Whether manage.py lies at the project's top."""
    static_url: str = ""
    static_root: Path | None = None
    """Where collectstatic puts the files; None where the settings do not say."""
    sends_static: bool = False
    """Whether the app itself sends them, by WhiteNoise."""
    media_url: str = ""
    """Empty where nothing is uploaded, or where a view of the project answers there."""
    media_root: Path | None = None

    @property
    def written(self) -> tuple[Path, ...]:
        """The folders that must belong to the app's user: uploads, and what collectstatic writes."""
        return tuple(dict.fromkeys(folder for folder in (self.static_root, self.media_root) if folder))


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
    django: Django | None
    """None for an app that is none of Django's."""
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
    def written(self) -> tuple[Path, ...]:
        """The folders that the app is known to write to."""
        return self.django.written if self.django else ()

    @property
    def served(self) -> Mapping[str, Path]:
        """The folders of files that the front sends itself, by URL prefix."""
        static = self.deployed.hosted.static
        return {prefix: folder for prefix, folder in static.items() if self.front.uses(folder)}

    @property
    def has_python(self) -> bool:
        """Whether Python runs the app; else it is plain files."""
        return self.stack.interface is not Interface.FILES
