"""Servers of others: the entry points of installed packages, and a folder that holds NAME/server.py.

Their code runs in this process, so whatever it raises becomes an InputError with its file and line, and its own
traceback below; nothing has been started by then.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType, TracebackType

from ..model.errors import InputError
from .contract import Entry
from .examination import problem_of

__all__ = ["ENTRY_POINT_GROUP", "in_folder", "in_packages"]

ENTRY_POINT_GROUP = "stackrace.servers"


def in_packages() -> Iterator[Entry]:
    """Yield the entries that installed packages offer."""
    for point in entry_points(group=ENTRY_POINT_GROUP):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "an installed package"
        where = f"entry point {point.name!r} of {package} (group {ENTRY_POINT_GROUP})"
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
    problem = problem_of(entry)
    if problem or not isinstance(entry, Entry):
        raise InputError(f"{where}: {problem}; see {_guide()}")
    return entry


def _guide(repository: Path = Path(__file__).parents[3]) -> str:
    """Name the page that explains servers; an installed package has no pages beside it."""
    page = "docs/adding-a-server.md"
    return (
        page if (repository / page).is_file() else f"{page} in Stackrace's sources; an installed package has none"
    )


def _module(file: Path) -> ModuleType:
    """Import ``file`` as part of a package of its folder, so that it finds what lies beside it (``from .words``).

    The same file is imported once; no byte code is left in the user's folder.
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
    """Turn whatever somebody else's code raises into an InputError; ``folder`` is where that code lies."""
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
    """Return the part of a traceback that begins in their code: ours and the import machinery's say nothing."""
    ours = str(Path(__file__).parent.parent)
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
