"""Path of uv, which installs packages, and causes of its failures.

Only a conflict of versions is blamed on the app's pins.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from ..errors import DISK, SHORTAGES, MissingError, said_by
from ..files import require_files
from .commands import CommandResult


@dataclass(frozen=True, slots=True)
class Cause:
    """One kind of failure."""

    signs: str
    """Pattern in uv's output."""
    message: str
    way_out: str
    exit_code: int = 4
    """2 if the user can correct the input, 4 if this machine or the network is at fault."""

    @property
    def words(self) -> str:
        """Cause and remedy, in one sentence."""
        return f"{self.message}; {self.way_out}"


_INDEX = "correct the index (UV_DEFAULT_INDEX)"
_MOVE = "or set UV_CACHE_DIR and XDG_CACHE_HOME to folders"
_PINNED = "a pin of the app is in the way"
"""Text added to uv's output if it names a version that the app has installed."""

_CONFLICT = Cause(
    _PINNED, "its Python packages cannot be installed beside the app's", "leave it out, or loosen the app's pins", 2
)
_BUILD = Cause(
    "Failed to build|Failed to download and build|build backend returned an error",
    "a package has no wheel for this Python, and cannot be built from its source", "see uv's words above", 2,
)  # fmt: skip
_NO_RELEASE = Cause(
    "does not satisfy Python|requires? Python|with a matching (Python|platform)",
    "a package has no release for this Python or machine",
    "leave it out, or give another interpreter with --python", 2,
)  # fmt: skip
UNKNOWN = Cause("", "uv failed", "its own words above say why", 2)

CAUSES = (
    Cause("unexpected argument|unrecognized subcommand", "this uv is too old",
          "update it, as with: uv self update; or name a newer one in the variable UV", 2),
    Cause("network was disabled", "uv may not use the network, and its cache lacks a package",
          "unset UV_OFFLINE (or offline in uv.toml), or install once with a network", 2),
    Cause("401 Unauthorized|403 Forbidden", "the package index refuses its user",
          "give name and password in the URL of the index (UV_DEFAULT_INDEX), or in ~/.netrc", 2),
    Cause("tunnel error|407 Proxy Auth|proxy", "the proxy does not let uv through to the package index",
          "correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, or unset it"),
    Cause("certificate:? (E|e)xpired|certificate:? (NotValidYet|not valid yet)",
          "the certificate of the package index is not valid today", "renew it, or set this machine's clock"),
    Cause("invalid peer certificate", "the certificate of the package index is not trusted",
          "name the file of its authority in SSL_CERT_FILE, or set UV_SYSTEM_CERTS=1"),
    Cause("dns error|failed to lookup address", "the name of the package index cannot be resolved",
          f"connect this machine to a network with a name server, or {_INDEX}"),
    Cause("Connection refused", "the package index, or a proxy before it, refuses connections",
          f"start it, or {_INDEX}"),
    Cause("Network is (unreachable|down)|No route to host", "there is no network",
          f"connect this machine, or {_INDEX}"),
    Cause("timed out", "the package index does not answer in time",
          f"try again, {_INDEX}, or set UV_HTTP_TIMEOUT to more seconds"),
    *(Cause(os.strerror(number), said, way_out if number not in DISK else f"{way_out}, {_MOVE} with more room")
      for number, (said, way_out) in SHORTAGES.items()),
    Cause("(?i)too ?many ?open ?files", *SHORTAGES[errno.EMFILE]),
    Cause("memory allocation of|MemoryError", *SHORTAGES[errno.ENOMEM]),
    Cause("signal 25$", *SHORTAGES[errno.EFBIG]),
    Cause("signal 9$", "uv was killed, perhaps because memory ran out", "give it more memory, or try again"),
    Cause("signal [0-9]+$", "uv was ended by a signal", "try again"),
    Cause("Failed to (inspect|query) Python|No interpreter found", "the interpreter for environments does not work",
          "repair it, or give another with --python", 2),
    _BUILD,
    Cause("Read-only file system|Permission denied", "uv cannot write to its cache, or to Stackrace's",
          f"correct the rights, {_MOVE} that you may write to"),
    Cause("Failed to (extract|read from zip)|deserializ|end of file|invalid zip|(?i:hash mismatch)|corrupt",
          "a package, or uv's cache, is damaged", "empty the cache with: uv cache clean"),
    Cause("Failed to initialize cache|Could not acquire lock", "uv's cache cannot be used",
          "set UV_CACHE_DIR to another folder"),
    _NO_RELEASE,
    _CONFLICT,
    Cause(r"you require ([\w.-]++)\S+ and \1[\[<>=!~]\S+ we can conclude",
          "two versions of one package are asked for",
          "write a version that Stackrace, and these settings, can start", 2),
    Cause("No solution found", "the package index has no version that fits",
          f"correct what is asked for, or {_INDEX}", 2),
    Cause("Failed to fetch|Request failed|error sending request", "the package index answers wrongly",
          f"try again later, or {_INDEX}"),
    UNKNOWN,
)  # fmt: skip
"""Kinds of failures; the first with matching signs is the cause."""

_DEBIAN = {
    "Python.h": "python3-dev", "libpq-fe.h": "libpq-dev", "pg_config": "libpq-dev", "mysql": "libmariadb-dev",
    "ffi.h": "libffi-dev", "openssl/": "libssl-dev", "libxml/": "libxml2-dev", "libxslt/": "libxslt1-dev",
    "jpeglib.h": "libjpeg-dev", "zlib.h": "zlib1g-dev", "pcre": "libpcre2-dev", "ldap.h": "libldap-dev",
    "sasl/": "libsasl2-dev", "cargo": "cargo", "rustc": "rustc", "cmake": "cmake", "": "build-essential",
}  # fmt: skip
"""Debian packages that builds miss, by a part of the name of a header or program."""
_MISSED = re.compile(
    r"fatal error: ([\w./+-]{1,80}): No such|No such file or directory: '([\w./+-]{1,80})'"
    r"|command '([\w./+-]{1,80})' failed: No such|([\w+-]{1,40}) executable not found"
)


_UNRELEASED = re.compile(
    r"(?<![\w.-])([\w.-]++)(?:[=<>!~]\S*+)? (?:(?:depends?|requires?)(?: on)? Python|ha(?:s|ve) no wheels with a "
    r"matching (?:Python|platform tag \(e\.g\., `(\w++)`\)))"
)
"""A package without a release for this Python, or for this platform, whose tag follows."""


def cause_of(result: CommandResult, pins: Iterable[str] = (), python: str = "") -> Cause:
    """Return the cause of uv's failure ``result``.

    ``pins`` are the app's versions, as ``name==1.0``. ``python`` is the interpreter's version, empty if unknown.
    """
    # uv wraps its lines
    output = " ".join(result.output.split())
    if "depend" in output and any(re.search(rf"\b{re.escape(pin)}(?![\w.])", output) for pin in pins):
        output += f" {_PINNED}"
    if result.code < 0:
        output += f" signal {-result.code}"
    cause = next(each for each in CAUSES if re.search(each.signs, output))
    if cause is _NO_RELEASE and (found := _UNRELEASED.search(output)):
        name, platform = found.groups()
        where = f"this machine ({platform})" if platform else f"Python {python}" if python else "this Python"
        return replace(cause, message=f"{name} has no release for {where}")
    missed = _MISSED.search(output) if cause is _BUILD else None
    if missed is None:
        return cause
    name = next(filter(None, missed.groups()))
    package = next(package for part, package in _DEBIAN.items() if part in name)
    way_out = f"install {name}, on Debian with: apt-get install {package}"
    return replace(cause, message=f"{cause.message}: {name} is missing", way_out=way_out)


def uv_program(project: Path) -> str:
    """Return the path of uv.

    Raises MissingError if there is none, or if uv would block on a file in ``project`` or the folders above.
    """
    names = ("uv.toml", "pyproject.toml", ".python-version", ".python-versions")
    try:
        require_files(folder / name for folder in (project, *project.parents) for name in names)
    except OSError as error:
        message = f"uv cannot read {error.filename}: {said_by(error)}; remove it, or make it a file"
        raise MissingError(message) from error
    found = find_uv()
    if found is None:
        raise MissingError(uv_missing())
    return found


def find_uv() -> str | None:
    """Return the path of the uv that started Stackrace, else of its Python package, else on PATH; None without any.

    uv gives its own path in the variable UV to the programs that it starts.
    Source: docs.astral.sh/uv/reference/environment
    """
    given = os.environ.get("UV", "")
    # a relative path would lead into a project, and uv sets none
    if os.path.isabs(given) and os.path.isfile(given) and os.access(given, os.X_OK):  # noqa: PTH113, PTH117
        return given
    try:
        from uv import find_uv_bin

        packaged: str = find_uv_bin()
    except (ImportError, FileNotFoundError):
        return shutil.which("uv")
    return packaged


def uv_missing() -> str:
    """Return a sentence with the command that installs uv; empty if it is installed."""
    if find_uv() is not None:
        return ""
    has_pip = find_spec("pip") is not None
    pip = shlex.join([sys.executable, "-m", "pip", "install", "uv"])
    command = pip if has_pip else "curl -LsSf https://astral.sh/uv/install.sh | sh"
    return f"uv is not installed, and Python's servers need it; run: {command}"
