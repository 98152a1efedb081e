"""Operating systems as values: what a program's packages are called there, and the command that installs them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from .errors import InputError, MissingItem


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageManager:
    """Program that installs packages of one family of Linux distributions."""

    name: str
    """Name of the field of ``SystemPackages`` with the names of its packages."""
    distribution: str
    """Distribution whose names of packages it knows."""
    program: str
    """Program to look for on PATH."""
    install: tuple[str, ...]
    """Arguments that install the packages whose names follow."""
    refresh: tuple[str, ...] = ()
    """Arguments that fetch the lists of packages; empty if installing does so."""
    variables: tuple[str, ...] = ()
    """Environment variables for the installation, as ``NAME=value``."""


_APT = PackageManager(
    name="apt",
    distribution="Debian",
    program="apt-get",
    install=("install", "-y", "--no-install-recommends"),
    refresh=("update", "-q"),
    # RUNLEVEL=1 makes invoke-rc.d leave the daemons off: they would take port 80 and CPU from the race
    variables=("DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1"),
)
# dnf(8) and apk(8): no daemon is started by an installation
_DNF = PackageManager(
    name="dnf", distribution="Fedora", program="dnf", install=("install", "-y", "--setopt=install_weak_deps=False")
)
_APK = PackageManager(name="apk", distribution="Alpine", program="apk", install=("add",), refresh=("update",))

_MANAGERS: Mapping[str, PackageManager] = {"debian": _APT, "ubuntu": _APT, "fedora": _DNF, "alpine": _APK}
"""Package managers by the ID or ID_LIKE of a distribution. Source: os-release(5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPackages:
    """Packages of a program, by package manager; empty where there are none."""

    apt: tuple[str, ...] = ()
    """Packages of Debian and Ubuntu."""
    dnf: tuple[str, ...] = ()
    """Packages of Fedora."""
    apk: tuple[str, ...] = ()
    """Packages of Alpine."""

    def packages(self, manager: PackageManager | None) -> tuple[str, ...]:
        """Return the names of the packages for ``manager``; empty for an unknown one."""
        names = {_APT: self.apt, _DNF: self.dnf, _APK: self.apk}
        return names[manager] if manager else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """An operating system."""

    kernel: str = "linux"
    """Kernel as Python calls it: ``linux``, ``darwin``, ``win32``."""
    title: str
    """Name for people: ``Fedora Linux 43``."""
    families: tuple[str, ...] = field(default=())
    """ID of the distribution, then the IDs of distributions that it is like. Source: os-release(5)."""

    @property
    def is_linux(self) -> bool:
        """True if stacks can be raced on it."""
        return self.kernel == "linux"

    @property
    def manager(self) -> PackageManager | None:
        """The package manager; None if it is unknown."""
        return next((_MANAGERS[name] for name in self.families if name in _MANAGERS), None)

    @property
    def package(self) -> str:
        """Word for one of its packages, of which Stackrace knows all of Debian's: ``known Fedora package``."""
        if self.manager is _APT:
            return "Debian package"
        return f"known {self.manager.distribution} package" if self.manager else "known package"

    def command(self, packages: Sequence[str]) -> tuple[str, ...]:
        """Return the command that installs ``packages`` as root; empty without a known package manager."""
        manager = self.manager
        return (manager.program, *manager.install, *packages) if manager else ()

    def missing_item(self, name: str, missing: str, needs: SystemPackages, elsewhere: str = "") -> MissingItem:
        """Return ``missing`` of the server, service or app ``name`` as a value, with its packages here.

        ``elsewhere`` tells where to get what no system has packages of.
        """
        packages = needs.packages(self.manager)
        if not packages and not elsewhere and needs.apt:
            elsewhere = self._way_out(needs.apt)
        return MissingItem(name=name, missing=missing, packages=packages, elsewhere=elsewhere)

    def _way_out(self, debian: Sequence[str]) -> str:
        """Return a sentence about a program that Debian has ``debian`` of, and this system no known package."""
        if self.manager is None:
            return f"install with {self.title}'s own package manager what Debian calls: {' '.join(debian)}"
        return "race it in the container image (docs/installing.md)"


@cache
def this_platform() -> Platform:
    """Return the operating system of this process."""
    import platform  # slow, and most commands do without

    if sys.platform != "linux":
        return Platform(kernel=sys.platform, title=_TITLES.get(sys.platform, sys.platform))
    release: Mapping[str, str] = {}
    with suppress(OSError):
        release = platform.freedesktop_os_release()
    return platform_of(release)


_TITLES = {"darwin": "macOS", "win32": "Windows"}


def platform_of(release: Mapping[str, str]) -> Platform:
    """Return the Linux distribution with the variables ``release`` in /etc/os-release."""
    families = (release.get("ID", "linux"), *release.get("ID_LIKE", "").split())
    return Platform(title=release.get("PRETTY_NAME", "this Linux"), families=families)


@cache
def system_python() -> tuple[int, int] | None:
    """Return the minor version of the system's own Python, to which the modules of its packages are linked.

    None if there is none. In Debian and Ubuntu, ``/usr/bin/python3`` is a link to it.
    """
    found = re.fullmatch(r"python3\.(\d+)", Path(os.path.realpath("/usr/bin/python3")).name)
    return (3, int(found[1])) if found else None


def require_linux(verb: str, here: Platform) -> None:
    """Raise InputError with the ways to go on if ``verb`` cannot start servers ``here``."""
    if not here.is_linux:
        raise InputError(
            f"stackrace {verb} needs Linux, and this is {here.title}: run it in a container (docker run --rm "
            f'-v "$PWD:/app" -v stackrace:/data stackrace {verb}; see docs/installing.md), or on a Linux machine '
            "such as a worker of your cluster"
        )
