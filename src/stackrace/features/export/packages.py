"""What is installed on the target: Debian's packages and PyPI's, in the versions that the export found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["Packages", "app_requirements", "constraints", "debian", "requirements"]

_TOOLS = {"pip", "setuptools", "wheel"}
"""In every environment, and nobody's requirement."""
_COMPILED = {
    "psycopg2": ("libpq-dev",),
    "psycopg-c": ("libpq-dev",),
    "mysqlclient": ("default-libmysqlclient-dev", "pkg-config"),
    "python-ldap": ("libldap2-dev", "libsasl2-dev"),
    "pylibmc": ("libmemcached-dev", "zlib1g-dev"),
    "pycairo": ("libcairo2-dev", "pkg-config"),
    "uwsgi": (),
}
"""PyPI's packages that have no wheels for Linux, and what Debian must bring to compile them beside a compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """Versions by package."""

    python: str = ""
    """The app's Python, as ``3.11.2``; empty for none."""
    embedded: bool = False
    """Whether a server has Debian's own Python linked in, so that no other will do."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """Of PyPI, for the servers."""
    app: Mapping[str, str] = field(default_factory=dict)
    """Of PyPI, in the app's own environment."""
    asked: str = ""
    """Where the project says what it needs, below its root, as requirements.txt; empty for nowhere."""
    lock: str = ""
    """The name of the lock file, where that says what is needed instead."""
    locked: str = ""
    """What it says, as requirements."""
    is_hashed: bool = False
    """Whether that file has hashes; pip then wants one for everything that the same command installs."""
    is_whole: bool = True
    """Whether that file speaks of no other one of the project."""
    debian: Mapping[str, str] = field(default_factory=dict)
    """Of Debian."""

    @property
    def compiled(self) -> tuple[str, ...]:
        """The PyPI packages that must be compiled."""
        names = {re.sub(r"[-_.]+", "-", name.lower()) for name in (*self.app, *self.servers)}
        return tuple(sorted(names & _COMPILED.keys()))

    @property
    def build(self) -> tuple[str, ...]:
        """Debian's packages that compiling them takes, without Python's own headers."""
        needed = (package for name in self.compiled for package in _COMPILED[name])
        return tuple(dict.fromkeys(("gcc", "libc6-dev", *needed))) if self.compiled else ()

    @property
    def minor(self) -> str:
        """The app's Python, as ``3.11``."""
        return ".".join(self.python.split(".")[:2])


def requirements(packages: Packages, source: str) -> str:
    """Return requirements.txt: the servers' packages."""
    return "".join(
        (
            f"# The servers' packages in the versions that the export found; made by {source}.\n",
            "# The app's own: see README.md, and constraints.txt for what they were.\n",
            *_pins(packages.servers),
        )
    )


def constraints(packages: Packages) -> str:
    """Return constraints.txt: every version that the export found, whoever wants it."""
    return "".join(
        (
            "# Every version that the export found; pip install --constraint keeps to them.\n",
            *_pins({**packages.app, **packages.servers}),
        )
    )


def app_requirements(packages: Packages) -> str:
    """Return requirements-app.txt: what a lock file says, or the app's whole environment where nothing says it."""
    if packages.lock:
        return f"# What {packages.lock} of the project says, as pip reads it.\n{packages.locked}"
    return "".join(
        (
            "# No file of the project says what it needs, so this is all that its environment had.\n"
            "# What is not on PyPI under that name (your own packages) must go.\n",
            *_pins(packages.app),
        )
    )


def debian(packages: Packages) -> str:
    """Return packages.txt: Debian's packages and their versions."""
    head = (
        "# Debian's packages in the versions that the export found. A release keeps to a version and adds\n"
        "# security fixes, so install them by name: apt-get install "
        f"{' '.join(packages.debian)}\n"
    )
    return head + "".join(f"{name}={version}\n" for name, version in packages.debian.items())


def _pins(versions: Mapping[str, str]) -> Iterator[str]:
    for name, version in sorted(versions.items(), key=lambda pair: pair[0].lower()):
        if name.lower() not in _TOOLS:
            yield f"{name}=={version}\n"
