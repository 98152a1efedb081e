"""Programs on this machine: which are installed, and the commands that install missing ones."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ..base.errors import InputError, MissingError, MissingItem
from ..base.platforms import Platform, this_platform
from ..base.process import ask, held
from ..base.temporary import temporary_folder
from ..stacks import services
from ..stacks.servers import Catalogue, catalogue
from ..stacks.servers.contract import Entry, Needs
from ..stacks.stack import Stack

_VERSION = re.compile(r"(?<!\d)\d+(?:\.\d+)+")


def find_binary(name: str, folders: Iterable[Path] = ()) -> str | None:
    """Return the absolute path of a program; None if it is not found.

    PATH is searched, then the sbin folders, which PATH may lack, then ``folders``.
    """
    places = (os.environ.get("PATH", ""), *services.FOLDERS, *map(str, folders))
    found = shutil.which(name, path=os.pathsep.join(places))
    return found and str(Path(found).absolute())


def missing_item(entry: Entry, here: Platform | None = None) -> MissingItem | None:
    """Return the programs and files that ``entry`` needs and this machine lacks; None if nothing is missing.

    Python packages do not count: they are installed before the first race. ``here`` is the operating system, by
    default this one.
    """
    needs, missing = entry.needs, _missing_files(entry.needs)
    if not missing:
        return None
    return (here or this_platform()).missing_item(entry.spec.name, ", ".join(missing), needs, needs.elsewhere)


def installed_version(entry: Entry, *, by_package: bool = False) -> str:
    """Return the installed version; empty if it is unknown, or ``entry`` is not installed.

    The program itself reports its version. With ``by_package``, no program in Debian's folders is started, and the
    version of its package is returned: for lists only, because a user may have replaced such a program.
    """
    return "" if _missing_files(entry.needs) else _version(entry.needs, by_package)


def missing_from(stack: Stack, catalogue: Catalogue) -> tuple[MissingItem, ...]:
    """Return the missing programs and files of each server of ``stack``; empty if nothing is missing."""
    missing = (missing_item(catalogue.entries[hop.server]) for hop in stack.hops)
    return tuple(item for item in missing if item is not None)


def require(stack: Stack, catalogue: Catalogue, python: tuple[int, int] | None = None) -> None:
    """Raise MissingError if ``stack`` needs something that is not installed, or cannot host ``python``.

    ``python`` is the Python version of the app; None for an app without Python.
    """
    if reason := unready(stack, catalogue, python):
        raise MissingError(f"stack {stack.path!r}: {reason}")


def require_fit(stack: Stack, catalogue: Catalogue, python: tuple[int, int] | None) -> None:
    """Raise MissingError if a server of ``stack`` cannot host ``python``; None is an app without Python."""
    if reason := _python_mismatch(stack, catalogue, python):
        raise MissingError(f"stack {stack.path!r}: {reason}")


def unready(stack: Stack, catalogue: Catalogue, python: tuple[int, int] | None) -> str:
    """Return why ``stack`` cannot be raced here, with the remedy; empty if it can."""
    for item in missing_from(stack, catalogue):
        return f"{item.name} is not installed ({item.missing})"
    return _python_mismatch(stack, catalogue, python)


def _python_mismatch(stack: Stack, catalogue: Catalogue, python: tuple[int, int] | None) -> str:
    """Return the reason why ``stack`` cannot host this version of Python; empty if it can."""
    if python is None:
        return ""
    for hop in stack.hops:
        needs = catalogue.entries[hop.server].needs
        if needs.embeds and needs.embeds != python:
            return (
                f"{hop.server} embeds Python {_dotted(needs.embeds)}, but the app's environment has "
                f"{_dotted(python)}; give an interpreter of Python {_dotted(needs.embeds)} with --python"
            )
        if needs.before and python >= needs.before:
            return (
                f"{hop.server} works only with Python before {_dotted(needs.before)}, but the app's environment "
                f"has {_dotted(python)}; give an older interpreter with --python"
            )
    return ""


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _missing_files(needs: Needs) -> list[str]:
    missing = []
    if needs.binary and find_binary(needs.binary, needs.folders) is None:
        missing.append(f"no program {needs.binary}")
    return missing + [f"no file {file}" for file in needs.files if not file.exists()]


@cache
def _version(needs: Needs, by_package: bool) -> str:
    binary = find_binary(needs.binary, needs.folders) if needs.binary else None
    is_asked = bool(binary and needs.version)
    is_debians = binary is None or binary.startswith(_DEBIANS)
    said = _debians_version(needs.apt[0]) if needs.apt and (not is_asked or (by_package and is_debians)) else ""
    if binary and is_asked and not said:
        # some programs leave a temporary folder behind even when they only print their version
        with TemporaryDirectory(dir=temporary_folder()) as folder:
            said = ask((binary, *needs.version), environment={**os.environ, "TMPDIR": folder}).output
    version = _VERSION.search(said)
    return version[0] if version else ""


_DEBIANS = ("/usr/bin/", "/usr/sbin/")
"""Folders of programs from Debian packages; others use /usr/local or /opt."""


def _debians_version(package: str) -> str:
    """Return the version of a package, empty if it is not installed; one query asks for the whole catalogue."""
    packages = {entry.needs.apt[0] for entry in catalogue() if entry.needs.apt}
    asked = packages if package in packages else {package}
    return _debian_versions(*sorted(asked)).get(package, "")


@cache
def _debian_versions(*packages: str) -> dict[str, str]:
    if not shutil.which("dpkg-query"):
        return {}
    # dpkg-query prints an error line for each missing package
    said = ask(("dpkg-query", "--show", "--showformat=${Package} ${Version}\n", *packages)).output
    return {name: version for name, _, version in (line.partition(" ") for line in said.splitlines())}


def can_install(here: Platform | None = None) -> bool:
    """Tell whether packages can be installed here without asking for a password."""
    manager = (here or this_platform()).manager
    if manager is None or shutil.which(manager.program) is None:
        return False
    if os.geteuid() == 0:
        return True
    sudo = shutil.which("sudo")
    return sudo is not None and ask([sudo, "-n", "true"]).code == 0


def install_items(items: Sequence[MissingItem], here: Platform | None = None) -> Mapping[str, str]:
    """Install the packages of ``items``, without starting their daemons.

    If all at once fails, each item is installed alone, so that a package which this release lacks stops no other.
    Returns the names of the items that could not be installed, each with the end of the output. Raises InputError
    if that is all of them, or with the command to run by hand if root's rights are missing.
    """
    here = here or this_platform()
    packages = tuple(sorted({package for item in items for package in item.packages}))
    if not packages or not (failure := _install(packages, here)):
        return {}
    failures = {item.name: failure for item in items}
    if len(items) > 1:
        failures = {item.name: each for item in items if (each := _install(item.packages, here))}
    if len(failures) == len(items):
        raise not_installed(failures, here)
    return failures


def not_installed(failures: Mapping[str, str], here: Platform | None = None) -> InputError:
    """Return the error for items that could not be installed, by name with the end of the output."""
    title = (here or this_platform()).title
    return InputError(
        f"{title} cannot install {', '.join(failures)}; see the output, or race in the image (docs/installing.md)",
        detail="\n".join(failures.values()),
    )


def _install(packages: Sequence[str], here: Platform) -> str:
    """Install ``packages``; return the end of the output if that fails, else an empty text."""
    manager, command = here.manager, here.command(packages)
    assert manager
    if shutil.which(manager.program) is None:
        raise InputError(
            f"there is no {manager.program} here; install with this system's own package manager what "
            f"{manager.distribution} calls: {' '.join(packages)}"
        )
    if not can_install(here):
        raise InputError(
            f"installing packages needs root or password-less sudo; run by hand: sudo {' '.join(command)}"
        )
    prefix = () if os.geteuid() == 0 else ("sudo", "-n")
    if manager.refresh:
        _finished([*prefix, manager.program, *manager.refresh])
    code, words = _finished([*prefix, "env", *manager.variables, *command])
    return (words.strip()[-2000:] or f"exit code {code}") if code else ""


def _finished(command: Sequence[str]) -> tuple[int, str]:
    """Run ``command`` to its end, even after Ctrl-C, which is passed on to it; return its exit code and output.

    A killed command would leave packages half installed. The command stays in our session, because sudo may
    remember a password by terminal.
    """
    with held() as signals:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            signals.release()
            return _output_of(process)
        except KeyboardInterrupt:
            signals.hold()
            with suppress(PermissionError):
                process.send_signal(signal.SIGINT)
            _output_of(process)
            raise


def _output_of(process: subprocess.Popen[str]) -> tuple[int, str]:
    words, _ = process.communicate()
    return process.returncode, words
