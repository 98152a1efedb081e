"""Third-party servers: entry points of installed packages, and a user's folder that holds NAME/server.py.

Their code runs in this process, so any exception becomes an InputError with file and line, and the code's own
traceback below; nothing has been started by then. Before an entry is used, its spec is checked and its recipe
is rehearsed.
"""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType, TracebackType

from ...base.errors import InputError, StackraceError
from ..setting import Interface, Protocol, Setting, Socket
from ..stack import BEHIND_ANOTHER, ServerSpec
from .contract import Entry, Guest, Recipe, Server
from .site import Endpoint, Fragment, Hosted, PythonRuntime, RubyRuntime, Site

_WORD = re.compile(r"[a-z][a-z0-9_-]*")
"""Name that no stack path can misread as part of its grammar."""
_CHOICE = re.compile(r"[a-z0-9_.-]+")
_NOWHERE = Path("/nowhere/stackrace-rehearsal")
"""Folder that does not exist: a pure recipe may name paths of its site, not open them."""


def _problem_of(entry: object) -> str:
    """Return the problem of ``entry`` in a few words; empty if it can be used.

    Exceptions of its code pass through, except for StackraceError, which it raises on purpose.
    """
    if not isinstance(entry, (Server, Guest)):
        return "it must be an instance of a class derived from stackrace.stacks.servers.Server or Guest"
    if not isinstance(getattr(entry, "spec", None), ServerSpec):
        return "its class has no spec: a stackrace.stacks.stack.ServerSpec"
    return next(_problems(entry.spec, entry), "") or _rehearsed(entry)


def _problems(spec: ServerSpec, entry: Entry) -> Iterator[str]:
    if not _WORD.fullmatch(spec.name):
        yield f"its name {spec.name!r} must have a-z first, then a-z, 0-9, _ and -"
    if not spec.hosts and not spec.forwards:
        yield "its spec neither hosts an interface nor forwards a protocol"
    if isinstance(entry, Server) and (not spec.listens or not spec.sockets):
        yield "a Server's spec must say which protocols it listens to, on which sockets"
    if isinstance(entry, Guest) and not spec.inside:
        yield "a Guest's spec must say inside which servers it lives"
    for name, count in Counter(setting.name for setting in (*spec.settings, *BEHIND_ANOTHER)).items():
        if count > 1:
            yield f"its setting {name!r} is there twice, or is one that every server has"
    for setting in spec.settings:
        yield from _setting(setting)


def _setting(setting: Setting) -> Iterator[str]:
    name, default = setting.name, setting.default
    if not _WORD.fullmatch(name):
        yield f"its setting {name!r} must have a-z first, then a-z, 0-9, _ and -"
    if isinstance(default, str):
        if default not in setting.choices:
            yield f"the default of its setting {name!r} is none of its choices"
        if not all(_CHOICE.fullmatch(choice) for choice in setting.choices):
            yield f"the choices of its setting {name!r} must have only a-z, 0-9, _, . and -"
    elif not isinstance(default, bool) and not setting.minimum <= default <= setting.maximum:
        yield f"the default of its setting {name!r} is not between its minimum and its maximum"


def _rehearsed(entry: Entry) -> str:
    """Rehearse a start with all settings at their defaults; return the problem, empty if there is none."""
    settings = {setting.name: setting.default for setting in (*entry.spec.settings, *BEHIND_ANOTHER)}
    try:
        requirements = entry.requirements(settings)
        if not isinstance(requirements, tuple) or not all(
            isinstance(requirement, str) for requirement in requirements
        ):
            return "requirements() must return a tuple of strings"
        site = _site(entry.spec, settings)
        if isinstance(entry, Server):
            recipe = entry.recipe(site)
            if not isinstance(recipe, Recipe):
                return "recipe() must return a stackrace.stacks.servers.Recipe"
            if not recipe.command or not all(isinstance(word, str) for word in recipe.command):
                return "the command of its recipe must be a tuple of strings"
        elif isinstance(entry, Guest) and not isinstance(entry.fragment(site), Fragment):
            return "fragment() must return a stackrace.stacks.servers.Fragment"
    except StackraceError:
        pass  # raised on purpose: a real start raises it again
    except OSError as error:
        if not str(error.filename).startswith(str(_NOWHERE)):
            raise
    return ""


def _site(spec: ServerSpec, settings: dict[str, str | int | bool]) -> Site:
    protocol = Protocol.HTTP if Protocol.HTTP in spec.listens else next(iter(sorted(spec.listens)), Protocol.HTTP)
    upstream = next(iter(spec.forwards), None)
    interface = next(iter(sorted(spec.hosts)), Interface.WSGI)
    return Site(
        directory=_NOWHERE / "site",
        listen=Endpoint(protocol=protocol, socket=Socket.TCP, port=8000),
        settings=settings,
        app=Hosted(
            interface=interface,
            root=_NOWHERE / "project",
            runtime=_runtime(interface),
        ),
        upstream=() if upstream is None else (Endpoint(protocol=upstream, socket=Socket.TCP, port=9000),),
    )


def _runtime(interface: Interface) -> PythonRuntime | RubyRuntime | None:
    if interface is Interface.FILES:
        return None
    if interface is Interface.RACK:
        return RubyRuntime(ruby=_NOWHERE / "ruby", config=_NOWHERE / "project" / "config.ru")
    return PythonRuntime(
        module="stackrace_entry",
        entry=_NOWHERE / "app" / "stackrace_entry.py",
        python=_NOWHERE / "environment" / "bin" / "python",
        home=_NOWHERE / "environment",
        python_path=(_NOWHERE / "project",),
        site_packages=(_NOWHERE / "environment" / "lib",),
    )


_GROUP = "stackrace.servers"


def in_packages() -> Iterator[Entry]:
    """Yield the entries of installed packages."""
    for point in entry_points(group=_GROUP):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "an installed package"
        where = f"entry point {point.name!r} of {package} (group {_GROUP})"
        with _explained(where, f"correct it, or uninstall {package}"):
            yield _checked(point.load(), where, _module_file(point))


def in_folder(folder: Path) -> Iterator[Entry]:
    """Yield the entry of every NAME/server.py in ``folder``, in alphabetical order."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}; correct --servers or [race] servers")
    files = sorted(folder.absolute().glob("*/server.py"))
    if not files:
        raise InputError(
            f"the folder {folder} holds no server: put each into a folder of its own, as NAME/server.py"
        )
    for file in files:
        with _explained(str(file), f"correct it, or remove the folder {file.parent.name}", file.parent):
            module = _module(file)
            if not hasattr(module, "SERVER"):
                raise InputError(f"{file} has no SERVER; end it with: SERVER = YourServer()")
            yield _checked(module.SERVER, f"SERVER in {file}", file)


def _checked(entry: object, where: str, file: Path) -> Entry:
    problem = _problem_of(entry)
    if problem or not isinstance(entry, Entry):
        raise InputError(f"{where}: {problem}; see {_guide()}")
    return entry


def _guide(repository: Path = Path(__file__).parents[4]) -> str:
    """Return the page that explains servers; an installed package does not contain it."""
    page = "docs/adding-a-server.md"
    return (
        page if (repository / page).is_file() else f"{page} in Stackrace's sources; an installed package has none"
    )


def _module(file: Path) -> ModuleType:
    """Import ``file`` as part of a package of its folder, so that it can import its neighbours (``from .words``).

    Each file is imported once; no byte code is written to the user's folder.
    """
    package = f"stackrace_servers_{hashlib.sha256(str(file).encode()).hexdigest()[:16]}"
    if package not in sys.modules:
        parent = ModuleType(package)
        parent.__path__ = [str(file.parent)]
        sys.modules[package] = parent
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        invalidate_caches()
        return import_module(f"{package}.server")
    finally:
        sys.dont_write_bytecode = before


def _module_file(point: EntryPoint) -> Path:
    return Path(getattr(sys.modules.get(point.module), "__file__", None) or point.module)


@contextmanager
def _explained(where: str, way_out: str, folder: Path | None = None) -> Iterator[None]:
    """Turn any exception of third-party code into an InputError; ``folder`` is where that code lies."""
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        theirs = _theirs(error.__traceback__, folder)
        line = _line(error, theirs)
        words = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
        detail = "".join(traceback.format_exception(type(error), error, theirs)).rstrip()
        raise InputError(f"{where}{line} {words}; {way_out}", detail=detail) from error


def _theirs(trace: TracebackType | None, folder: Path | None) -> TracebackType | None:
    """Return the part of a traceback that begins in third-party code, without Stackrace's own code and the import
    system."""
    ours = str(Path(__file__).parents[2])
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        inside = Path(file).is_relative_to(folder) if folder else not file.startswith((ours, "<frozen"))
        if inside:
            return trace
        trace = trace.tb_next
    return None


def _line(error: BaseException, theirs: TracebackType | None) -> str:
    if isinstance(error, SyntaxError) and error.lineno:
        return f", line {error.lineno} of {Path(error.filename or '?').name}:"
    return f", line {theirs.tb_lineno}:" if theirs else ":"
