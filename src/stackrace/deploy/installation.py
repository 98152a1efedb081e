"""What of the catalogue is installed on this machine, and the command that installs the rest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from ..model.errors import InputError, MissingError
from ..model.stack import Stack
from ..servers import Catalogue
from ..servers.contract import Entry, Needs

__all__ = [
    "Availability",
    "State",
    "apt_command",
    "availability",
    "can_install",
    "find_binary",
    "install",
    "require",
]

_SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_VERSION = re.compile(r"\d+(?:\.\d+)+")


class State(StrEnum):
    """How a catalogue entry is on this machine."""

    READY = "ready"
    MISSING = "missing"
    """Not here, but ``stackrace install`` brings it."""
    NOT_INSTALLED = "not installed"
    """Not here, and of no Debian package: the user's own to get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """One catalogue entry on this machine."""

    name: str
    title: str
    ready: bool
    missing: str = ""
    """What is not there; empty when it is ready."""
    install: str = ""
    """The command that brings it; empty where there is none."""
    elsewhere: str = ""
    """Where to get it, in a sentence, where no command brings it."""
    version: str = ""
    """The installed version; empty when unknown."""
    packages: tuple[str, ...] = ()
    """The Debian packages that it needs."""

    @property
    def state(self) -> State:
        """In one word."""
        if self.ready:
            return State.READY
        return State.MISSING if self.install else State.NOT_INSTALLED

    @property
    def remedy(self) -> str:
        """How to get it; empty when it is here."""
        return f"run: {self.install}" if self.install else self.elsewhere


def find_binary(name: str, folders: Iterable[Path] = ()) -> str | None:
    """Return the path of a program: on PATH, in the sbin folders, which PATH may lack, or in ``folders``."""
    places = (os.environ.get("PATH", ""), *_SYSTEM_FOLDERS, *map(str, folders))
    return shutil.which(name, path=os.pathsep.join(places))


def availability(entry: Entry) -> Availability:
    """Look for what ``entry`` needs. Python packages do not count: they are installed when first raced."""
    spec, needs = entry.spec, entry.needs
    lacking = _lacking(needs)
    return Availability(
        name=spec.name,
        title=spec.title,
        ready=not lacking,
        missing=", ".join(lacking),
        install=f"stackrace install {spec.name}" if lacking and not needs.elsewhere else "",
        elsewhere=needs.elsewhere if lacking else "",
        version="" if lacking else _version(needs),
        packages=needs.apt,
    )


def require(stack: Stack, catalogue: Catalogue, python: tuple[int, int] | None = None) -> None:
    """Raise MissingError if ``stack`` needs something that is not installed, or cannot host this Python."""
    for hop in stack.hops:
        entry = catalogue.entries[hop.server]
        state = availability(entry)
        if not state.ready:
            raise MissingError(
                f"stack {stack.path!r}: {hop.server} is not installed ({state.missing}); {state.remedy}"
            )
        embeds = entry.needs.embeds
        if embeds and python and embeds != python:
            raise MissingError(
                f"stack {stack.path!r}: {hop.server} embeds Python {embeds[0]}.{embeds[1]}, but the app's "
                f"environment has {python[0]}.{python[1]}; give an interpreter of Python {embeds[0]}."
                f"{embeds[1]} with --python"
            )
        before = entry.needs.before
        if before and python and python >= before:
            raise MissingError(
                f"stack {stack.path!r}: {hop.server} works only with Python before {before[0]}.{before[1]}, but "
                f"the app's environment has {python[0]}.{python[1]}; give an older interpreter with --python"
            )


def can_install() -> bool:
    """Tell whether Debian packages can be installed here without asking for a password."""
    if shutil.which("apt-get") is None:
        return False
    if os.geteuid() == 0:
        return True
    sudo = shutil.which("sudo")
    return sudo is not None and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0


def apt_command(packages: Sequence[str]) -> tuple[str, ...]:
    """Return the command that installs Debian ``packages`` here."""
    command = ("apt-get", "install", "-y", "--no-install-recommends", *packages)
    return command if os.geteuid() == 0 else ("sudo", "-n", *command)


def install(entries: Iterable[Entry]) -> None:
    """Install the Debian packages that ``entries`` lack. Daemons that the packages would start stay off.

    Raises InputError with the command to run by hand when root's rights are missing, or apt's own words.
    """
    packages = sorted({name for entry in entries if _lacking(entry.needs) for name in entry.needs.apt})
    if not packages:
        return
    command = apt_command(packages)
    if not can_install():
        raise InputError(
            "installing Debian packages needs root or password-less sudo; run by hand: "
            f"sudo apt-get install --no-install-recommends {' '.join(packages)}"
        )
    prefix = () if os.geteuid() == 0 else ("sudo", "-n")
    subprocess.run([*prefix, "apt-get", "update", "-q"], capture_output=True, check=False)
    # RUNLEVEL=1 makes invoke-rc.d leave the daemons off: they would take port 80 and CPU from the race
    environment = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    result = subprocess.run(
        [
            *prefix,
            "env",
            *(f"{name}={value}" for name, value in environment.items()),
            *command[len(prefix) :],
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise InputError(f"{' '.join(command)} failed", detail=(result.stderr or result.stdout).strip()[-2000:])


def _lacking(needs: Needs) -> list[str]:
    lacking = []
    if needs.binary and find_binary(needs.binary, needs.folders) is None:
        lacking.append(f"no program {needs.binary}")
    return lacking + [f"no file {file}" for file in needs.files if not file.exists()]


@cache
def _version(needs: Needs) -> str:
    """Ask the program itself, or Debian about a module that has none."""
    binary = find_binary(needs.binary, needs.folders) if needs.binary else None
    if binary and needs.version:
        command = (binary, *needs.version)
    elif needs.apt and shutil.which("dpkg-query"):
        command = ("dpkg-query", "--show", "--showformat=${Version}", needs.apt[0])
    else:
        return ""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    version = _VERSION.search(result.stdout + result.stderr)
    return version[0] if version else ""
