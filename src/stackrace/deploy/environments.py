"""Private Python environments, built with uv, cached, and layered over the app's environment.

The app's environment is never changed. A layer is an environment for the same interpreter that holds a
server's packages and imports all of the app's packages through a ``.pth`` file. The server's packages are resolved
with the app's installed versions as constraints, so the app never gets another version of anything.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from ..app.examiner.messages import PythonFacts
from ..base.errors import InputError, MissingError, said_by
from ..base.files import read_text, remove_tree
from ..base.process import Cause, cause_of, uv_program
from ..base.process.view import UNPROTECTED, ProtectedView
from ..base.text import package_key, tail
from ..base.unix import fcntl
from ..stacks.servers import Catalogue
from ..stacks.servers.site import versions_by_key
from ..stacks.stack import Stack
from .folder_templates import locked
from .preparing import OnPreparing, Preparing, Step
from .privileges import private_folder, serves_as_another

_COMPLETE = ".stackrace-complete"
_MOST_LINES = 20
"""Number of lines to show of an installer's output, because compilers print pages."""

_INSTALL_S = 3600.0
_PATIENCE = {"UV_HTTP_RETRIES": "2", "UV_HTTP_TIMEOUT": "10"}
"""Retries and timeout in seconds of uv for an index, unless the user sets them."""


def cache_folder() -> Path:
    """Return Stackrace's folder in the XDG cache; it may not exist yet.

    The folder is in /var/cache if servers run as another user, and that user cannot enter the home.
    """
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder, "stackrace")
    home = Path.home()
    is_closed = serves_as_another() and any(
        not each.stat().st_mode & stat.S_IXOTH for each in (home, *home.parents)
    )
    return Path("/var/cache" if is_closed else home / ".cache", "stackrace")


def writable_caches() -> tuple[Path, Path]:
    """Return the cache folders that every command may write to: Stackrace's and uv's."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache_folder(), Path(os.environ.get("UV_CACHE_DIR") or home / "uv").absolute()


def byte_code() -> dict[str, str]:
    """Create a folder for byte code in the cache, and return the variables that make Python use it.

    The user's folders stay unchanged. Python images often forbid byte code altogether, and then every launch would
    compile everything again.
    """
    folder = cache_folder() / "pycache"
    # without the folder, Python writes no byte code
    with suppress(OSError):
        private_folder(folder, served=True)
    return {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}


class Environments:
    """Cache of environments; ``on_preparing`` is called before long steps.

    ``project`` is the folder whose uv settings may choose package sources. Give it only for an app that will run
    anyway, because those settings are the project's.
    """

    def __init__(self, folder: Path, on_preparing: OnPreparing, project: Path | None = None) -> None:
        self._folder = folder / "environments"
        self._on_preparing = on_preparing
        self._project = project or Path("/")
        self._broken: Cause | None = None
        """Reason why this machine or the network cannot install; once set, uv uses only its cache."""

    def of_requirements(
        self, requirements: Path, base: Path, view: ProtectedView, *, flag: str = "--python"
    ) -> Path:
        """Return the interpreter of an environment with the packages listed in the file ``requirements``.

        ``requirements`` may be a requirements.txt or a pyproject.toml. If the file lists the project itself, the
        project's code builds it in ``view``. ``flag`` is the option for another interpreter, named in messages.
        Raises MissingError with uv's output.
        """
        key = _key("requirements", str(base), read_text(requirements))
        with self._building(key) as (home, missing):
            if missing:
                self._on_preparing(Preparing(step=Step.ENVIRONMENT, subject=str(requirements)))
                self._venv(home, base, view)
                try:
                    listed = str(view.relocation.path(requirements))
                    self._install(home, ["--requirement", listed], view)
                    _import_originals(home, view)
                except MissingError as error:
                    way_out = f"; or give the app's own interpreter with {flag}"
                    raise error.about(f"{requirements} cannot be installed", way_out) from None
        return home / "bin" / "python"

    def layered(self, app: PythonFacts, requirements: Sequence[str]) -> Path:
        """Return the folder of an environment with ``requirements`` over ``app``'s environment.

        A requirement with ``==`` replaces the app's version of that package for the stack. Raises MissingError if
        the requirements cannot be installed, or do not fit the app's packages.
        """
        wanted = {package_of(requirement) for requirement in requirements if "==" in requirement}
        brought = versions_by_key(app.distributions).items()
        pins = sorted(f"{name}=={version}" for name, version in brought if name not in wanted)
        key = _key(str(app.base), *map(str, app.site_packages), *pins, "--", *sorted(requirements))
        with self._building(key) as (home, missing):
            if missing:
                self._on_preparing(Preparing(step=Step.PACKAGES, subject=", ".join(requirements)))
                # the base interpreter alone starts, isolated, and nothing of the project is built
                self._venv(home, app.base, UNPROTECTED)
                if requirements:
                    constraints = home / "constraints.txt"
                    constraints.write_text("\n".join(pins) + "\n", encoding="utf-8")
                    command = ["--constraint", str(constraints), "--", *requirements]
                    self._install(home, command, UNPROTECTED, pins)
                # the app's packages, with their .pth files, come after the environment's own packages
                lines = (f"import site; site.addsitedir({str(folder)!r})\n" for folder in app.site_packages)
                (site_packages(home) / "stackrace_app.pth").write_text("".join(lines), encoding="utf-8")
        return home

    def of_stack(self, stack: Stack, catalogue: Catalogue, app: PythonFacts | None) -> Path | None:
        """Return the folder of the environment that ``stack`` runs in; None for an app without Python.

        Raises MissingError if the packages of a server cannot be installed.
        """
        return None if app is None else self.layered(app, requirements_of(stack, catalogue, app))

    @contextmanager
    def _building(self, key: str) -> Iterator[tuple[Path, bool]]:
        """Hold the lock of environment ``key`` while it is built; mark it complete, or remove it after an error."""
        home = self._folder / key
        try:
            str(home).encode()
        except UnicodeEncodeError as error:
            raise InputError(f"the cache {str(home)!r} has no name in UTF-8; set XDG_CACHE_HOME") from error
        with locked(self._folder, key, fcntl.LOCK_EX, served=True):
            missing = not (home / _COMPLETE).exists()
            if missing:
                remove_tree(home)
            try:
                yield home, missing
            except BaseException:
                remove_tree(home)
                raise
            if missing:
                (home / _COMPLETE).touch()

    def _venv(self, home: Path, base: Path, view: ProtectedView) -> None:
        self._uv(["venv", "--quiet", "--no-project", "--python", str(base), "--", str(home)], view)

    def _install(self, home: Path, arguments: Sequence[str], view: ProtectedView, pins: Sequence[str] = ()) -> None:
        # uv leaves its locks in TMPDIR
        temporary = home / "tmp"
        temporary.mkdir()
        command = ["pip", "install", "--quiet", "--python", str(home / "bin" / "python"), *arguments]
        self._uv(command, view, pins, python_version(home), TMPDIR=str(temporary))
        remove_tree(temporary)

    def _uv(
        self,
        arguments: Sequence[str],
        view: ProtectedView,
        pins: Sequence[str] = (),
        python: str = "",
        **environment: str,
    ) -> None:
        """Run uv; raises MissingError with the cause if it fails, or if the app's ``pins`` do not fit.

        ``python`` is the version of the environment's interpreter.
        """
        program = uv_program(self._project)
        given = _PATIENCE | {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        if self._broken is not None:
            environment["UV_OFFLINE"] = "1"
        # uv starts in the current folder, since its variables may hold relative paths; settings are the project's
        command = [program, "--project", str(self._project), *arguments]
        given |= environment
        # a view allows writing to the cache only if it exists; if it cannot be created, uv prints why
        with suppress(OSError):
            writable_caches()[1].mkdir(parents=True, exist_ok=True)
        try:
            result = view.run(command, folder=Path.cwd(), environment=given, timeout_s=_INSTALL_S)
        except OSError as error:
            way_out = "name one that works in the variable UV"
            raise MissingError(f"{program} cannot be started: {said_by(error)}; {way_out}") from error
        if result.code:
            cause = self._broken or cause_of(result, pins, python)
            if cause.exit_code != MissingError.exit_code:
                self._broken = cause
            failure = MissingError(cause.words, detail="\n".join(tail(result.output, _MOST_LINES)))
            failure.exit_code = cause.exit_code
            raise failure


def _import_originals(home: Path, view: ProtectedView) -> None:
    """Make editable installs in ``home`` import the project itself, not a copy that is gone after the race."""
    for pattern in ("*.pth", "*.py", "*.dist-info/direct_url.json") if view.relocation.root else ():
        for path in site_packages(home).glob(pattern):
            path.write_text(view.relocation.original(read_text(path)), encoding="utf-8")


def site_packages(home: Path) -> Path:
    """Return the package folder of an environment."""
    return next((home / "lib").glob("python3*/site-packages"))


@cache
def python_version(home: Path) -> str:
    """Return the version of the Python in an environment, such as ``3.11.2``; empty if its file does not say it."""
    config = read_text(home / "pyvenv.cfg")
    line = re.search(r"^version(?:_info)? *= *(\S+)", config, re.MULTILINE)
    return line[1] if line else ""


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def requirements_of(stack: Stack, catalogue: Catalogue, app: PythonFacts | None = None) -> tuple[str, ...]:
    """Return the PyPI requirements of all the stack's servers, without versions for packages that ``app`` has.

    If the app's environment contains a server, that version is raced, however old. Only a version that the
    stack's path names replaces it.
    """
    pins = {hop.spec.package: f"{hop.spec.package}=={hop.version}" for hop in stack.hops if hop.version}
    brought = set() if app is None else versions_by_key(app.distributions).keys() - pins
    needed = {
        _package_of(requirement) if package_of(requirement) in brought else requirement
        for hop in stack.hops
        for requirement in catalogue.entries[hop.server].requirements(hop.settings)
    }
    return tuple(sorted({*needed, *pins.values()}))


def _package_of(requirement: str) -> str:
    return re.split(r"[<>=!~ ;]", requirement, maxsplit=1)[0]


def package_of(requirement: str) -> str:
    """Return the normalised package name of ``requirement``."""
    return package_key(_package_of(requirement).partition("[")[0])
