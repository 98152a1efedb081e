"""The packages of an export: the project's requirements, the servers' packages, and Debian's."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path

from ...app.lock_files import LISTS, requirements_of, versions_named
from ...app.project_files import table, table_in, text
from ...base.errors import InputError
from ...base.process import ask
from ...deploy.environments import site_packages
from ...race.preparation.set_up import Deployment
from ...stacks.servers import PythonRuntime
from ...stacks.servers.site import versions_by_key
from ...stacks.stack import Stack

_LOCKS = ("uv.lock", "poetry.lock", "Pipfile.lock")
_ELSEWHERE = re.compile(r"^[ \t]*(-|\.|/|file:)", re.MULTILINE)
"""Pattern of a line that refers to another file of the project."""
_TOOLS = {"pip", "setuptools", "wheel"}
_COMPILED = {
    "psycopg2": ("libpq-dev",),
    "psycopg-c": ("libpq-dev",),
    "mysqlclient": ("default-libmysqlclient-dev", "pkg-config"),
    "python-ldap": ("libldap2-dev", "libsasl2-dev"),
    "pylibmc": ("libmemcached-dev", "zlib1g-dev"),
    "pycairo": ("libcairo2-dev", "pkg-config"),
    "uwsgi": (),
}
"""PyPI packages without wheels for Linux, and the Debian packages that compile them, beside a compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A project's requirements, from its files; empty if it has no file that pip understands."""

    file: str = ""
    """File for pip, below the project's root: a list, or pyproject.toml."""
    is_whole: bool = True
    """True if that file refers to no other file of the project."""
    is_hashed: bool = False
    """True if that file has hashes."""
    lock: str = ""
    """Name of the lock file, if the requirements come from one."""
    locked: str = ""
    """The lock file's contents as requirements."""


def asked_of(root: Path) -> Asked:
    """Return the requirements of the project in ``root``, first from files that deployments install from."""
    for name in LISTS:
        if (root / name).is_file():
            listed = text(root / name)
            plain = re.sub(r"(?<!\s)\s*+(?:\\\s*+)?--hash[= ]\S+", "", listed)
            return Asked(file=name, is_whole=not _ELSEWHERE.search(plain), is_hashed="--hash" in listed)
    for lock in (root / name for name in _LOCKS if (root / name).is_file()):
        # a lock file that cannot be read, or refers to other folders, is skipped
        with suppress(InputError):
            locked = requirements_of(lock)
            if locked and not _ELSEWHERE.search(locked):
                return Asked(lock=lock.name, locked=locked)
    if (root / "pyproject.toml").is_file() and _can_be_installed(root / "pyproject.toml"):
        return Asked(file="pyproject.toml", is_whole=False)
    return Asked()


def _can_be_installed(pyproject: Path) -> bool:
    """Return True if ``pip install FOLDER`` installs the requirements; most files only configure tools."""
    read = table(pyproject)
    poetry = table_in(read, "tool", "poetry")
    named = table_in(read, "project").get("dependencies") or table_in(poetry, "dependencies").keys() - {"python"}
    return bool(named) and poetry.get("package-mode") is not False


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """Versions of packages."""

    python: str = ""
    """Version of the app's Python, such as ``3.11.2``; empty if it has none."""
    embedded: bool = False
    """True if a server has Debian's own Python linked in, so that no other Python will do."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """Versions of the servers' PyPI packages."""
    app: Mapping[str, str] = field(default_factory=dict)
    """Versions of the PyPI packages in the app's own environment."""
    asked: Asked = field(default_factory=Asked)
    """The project's requirements."""
    debian: Mapping[str, str] = field(default_factory=dict)
    """Versions of the Debian packages."""

    @property
    def minor(self) -> str:
        """Minor version of the app's Python, such as ``3.11``."""
        return ".".join(self.python.split(".")[:2])

    @property
    def compiled(self) -> tuple[str, ...]:
        """PyPI packages that must be compiled."""
        return tuple(sorted(versions_by_key({**self.app, **self.servers}).keys() & _COMPILED.keys()))

    def system(self, *, python: bool) -> tuple[str, ...]:
        """Return all Debian packages to install: with ``python`` also its own, and curl for an app without it."""
        needed = [package for name in self.compiled for package in _COMPILED[name]]
        build = ("gcc", "libc6-dev", *needed) if self.compiled else ()
        headers = ("python3-dev",) if build else ()
        own = ("python3", "python3-venv", *headers) if python else ()
        health = () if self.python else ("curl",)
        return tuple(dict.fromkeys((*self.debian, *own, *build, *health)))

    def files(self, source: str) -> dict[str, str]:
        """Return the lists for apt-get and pip that are needed, by name; ``source`` made them."""
        lists = {}
        if self.debian:
            lists["packages.txt"] = (
                "# Debian's packages in the versions that the export found. A release keeps to a version and adds\n"
                f"# security fixes, so install them by name: apt-get install {' '.join(self.debian)}\n"
                + "".join(f"{name}={version}\n" for name, version in self.debian.items())
            )
        if not self.python:
            return lists
        lists["requirements.txt"] = (
            f"# The servers' packages in the versions that the export found; made by {source}.\n"
            f"# The app's own: see README.md, and constraints.txt for what they were.\n{_pins(self.servers)}"
        )
        lists["constraints.txt"] = (
            "# Every version that the export found; pip install --constraint keeps to them.\n"
            f"{_pins({**self.app, **self.servers})}"
        )
        if self.asked.lock:
            lists["requirements-app.txt"] = (
                f"# What {self.asked.lock} of the project says, as pip reads it.\n{self.asked.locked}"
            )
        elif not self.asked.file:
            lists["requirements-app.txt"] = (
                "# No file of the project says what it needs, so this is all that its environment had.\n"
                f"# What is not on PyPI under that name (your own packages) must go.\n{_pins(self.app)}"
            )
        return lists


def _pins(versions: Mapping[str, str]) -> str:
    wanted = sorted((name for name in versions if name.lower() not in _TOOLS), key=str.lower)
    return "".join(f"{name}=={versions[name]}\n" for name in wanted)


def packages_of(deployment: Deployment, stack: Stack) -> Packages:
    """Return the installed versions of all packages that ``stack`` needs."""
    launcher, facts = deployment.launcher, deployment.examined.interpreter
    needs = [launcher.catalogue.entries[hop.server].needs for hop in stack.hops]
    debian = {name: _debian_version(name) for name in dict.fromkeys(name for each in needs for name in each.apt)}
    if facts is None:
        return Packages(debian=debian)
    root = deployment.examined.project.root
    _refuse_other_versions(stack, root)
    pinned = {hop.spec.package for hop in stack.hops if hop.version}
    runtime = launcher.host_for(stack).runtime
    assert isinstance(runtime, PythonRuntime)
    installed = distributions(path=[str(site_packages(runtime.home))])
    return Packages(
        python=facts.version,
        embedded=any(each.embeds for each in needs),
        servers={each.metadata["Name"]: each.version for each in installed if each.metadata["Name"]},
        app={name: v for name, v in facts.distributions.items() if not versions_by_key({name: v}).keys() & pinned},
        asked=asked_of(root),
        debian=debian,
    )


def _refuse_other_versions(stack: Stack, root: Path) -> None:
    """Raise InputError if the project in ``root`` pins another version of a server than ``stack`` has."""
    named = versions_named(root)
    for hop in stack.hops:
        pinned = named.get(hop.spec.package, "")
        if hop.version and pinned[:1].isdigit() and pinned != hop.version:
            raise InputError(
                f"{hop.server}@{hop.version} cannot be exported: the project itself wants {hop.spec.package} "
                f"{pinned}, and pip installs one; write {hop.version} there, and export {hop.server}"
            )


def _debian_version(package: str) -> str:
    result = ask(["dpkg-query", "--show", "--showformat=${Version}", package])
    return "" if result.code else result.output


def distribution() -> str:
    """Return the code name of this Debian; ``bookworm`` if this is not Debian."""
    with suppress(OSError):
        release = platform.freedesktop_os_release()
        return release.get("VERSION_CODENAME", "bookworm") if release["ID"] == "debian" else "bookworm"
    return "bookworm"
