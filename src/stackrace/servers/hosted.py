"""The app that a server hosts, and what runs it: Python, Ruby, or nothing for plain files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..model.stack import Interface

__all__ = ["Hosted", "PythonRuntime", "RubyRuntime", "versions_by_key"]


def versions_by_key(versions: Mapping[str, str]) -> dict[str, str]:
    """Return versions by normalised names of packages: what some call Foo_Bar is foo-bar."""
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in versions.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRuntime:
    """How a WSGI or ASGI app is run."""

    module: str
    """Holds the callable ``application``; importable from ``entry.parent``."""
    entry: Path
    """The file of ``module``."""
    python: Path
    """The interpreter of ``home``."""
    home: Path
    """The environment with the server's packages layered over the user's."""
    python_path: tuple[Path, ...]
    """Must lead the import path."""
    site_packages: tuple[Path, ...]
    """The environment's folders of packages, for servers that embed Python and know no home directive."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """What the app's own environment has, by name: a server among these is raced in that version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubyRuntime:
    """How a Rack app is run."""

    ruby: Path
    """The interpreter."""
    config: Path
    """The rackup file."""
    mode: str = "production"
    """The app's environment in Rack's sense, as in RACK_ENV."""
    public: Path | None = None
    """The folder of files that a web server sends without asking the app; None where there is none."""
    gems: frozenset[str] = frozenset()
    """Those of its Gemfile.lock, if it has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """The app as its host sees it.

    The grammar of stacks gives a server only apps of the interfaces it hosts, so the servers of one interface
    take the parts of its runtime from here; a part that this app's runtime does not have raises TypeError.
    All folders are ``PLAIN``: those of the user's that are called otherwise come as links.
    """

    interface: Interface
    root: Path
    """The user's project and the working directory; for plain files the folder served at ``/``."""
    runtime: PythonRuntime | RubyRuntime | None = None
    """What runs the app: Python for WSGI and ASGI, Ruby for Rack, None for plain files, which need nothing."""
    static: Mapping[str, Path] = field(default_factory=dict)
    """URL prefixes (``/static/``), made by ``model.url_prefix``, longest first, and the folders that a front end
    serves there itself."""

    @property
    def _python(self) -> PythonRuntime:
        if not isinstance(self.runtime, PythonRuntime):
            raise TypeError(f"no Python runs an app hosted as {self.interface}")
        return self.runtime

    @property
    def _ruby(self) -> RubyRuntime:
        if not isinstance(self.runtime, RubyRuntime):
            raise TypeError(f"no Ruby runs an app hosted as {self.interface}")
        return self.runtime

    @property
    def module(self) -> str:
        """The module with the callable ``application``."""
        return self._python.module

    @property
    def entry(self) -> Path:
        """The file of ``module``."""
        return self._python.entry

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self._python.python

    @property
    def home(self) -> Path:
        """The interpreter's environment."""
        return self._python.home

    @property
    def site_packages(self) -> tuple[Path, ...]:
        """The folders of packages, the server's own first."""
        return self._python.site_packages

    def has_before(self, package: str, *version: int) -> bool:
        """Tell whether the app brings ``package`` itself in a version before ``version``, as in (0, 22)."""
        brought = re.findall(r"\d+", versions_by_key(self._python.versions).get(package, ""))
        return bool(brought) and tuple(map(int, brought)) < version

    @property
    def import_path(self) -> tuple[Path, ...]:
        """Where ``module`` and the user's own modules are found: first the folder of ``entry``."""
        return tuple(dict.fromkeys((self.entry.parent, *self._python.python_path)))

    @property
    def import_environment(self) -> dict[str, str]:
        """The import path as a process environment, for servers that are Python programs themselves."""
        return {"PYTHONPATH": ":".join(map(str, self.import_path))}

    @property
    def ruby(self) -> Path:
        """The interpreter of a Rack app."""
        return self._ruby.ruby

    @property
    def config(self) -> Path:
        """The rackup file of a Rack app."""
        return self._ruby.config

    @property
    def mode(self) -> str:
        """What RACK_ENV is for a Rack app."""
        return self._ruby.mode

    @property
    def public(self) -> Path | None:
        """The public folder of a Rack app, if it has one."""
        return self._ruby.public

    @property
    def gems(self) -> frozenset[str]:
        """The gems that a Rack app brings itself."""
        return self._ruby.gems
