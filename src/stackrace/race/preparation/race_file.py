"""A race file read as a request, its stacks checked; and what was meant where it is none."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from ...app.projects.detection import entry_named, flags_named
from ...base.errors import SpecError, StackraceError
from ...base.text import url_meant
from ...stacks.servers import catalogue
from ..request.race_file import StackCheck, read_race_file
from ..request.request import RaceRequest
from ..request.toml_file import read_table, read_text
from .choosing import asked


def read_request(race_file: Path | str, servers: Path | None = None, *, recordings: bool = True) -> RaceRequest:
    """Return what ``race_file`` asks for; the folder ``servers`` replaces the one that it names.

    Without ``recordings``, those that it names need not exist yet.

    Raises SpecError listing every problem with its line, InputError for an app in a wrong spelling.
    """
    race_file = Path(race_file)
    servers = servers or _servers_named_in(race_file)
    known = catalogue().extended(servers)

    def check_stack(path: str) -> object:
        return asked([path], known)

    request = read_race_file(
        race_file, check_stack, recordings=recordings, meant_by=lambda path: _meant_by(path, check_stack)
    )
    entry = request.entry and entry_named(request.entry.kind, request.entry.target, request.folder)
    return replace(request, servers=servers, entry=entry)


def _servers_named_in(race_file: Path) -> Path | None:
    """Return the folder that ``[race] servers`` names; None also for a wrong file, whose reader says what is wrong.

    It is wanted before the file is read: the stacks in it are checked against the catalogue with that folder.
    """
    try:
        race = read_table(read_text(race_file))["race"]
        return Path(race_file.parent / race["servers"]).resolve()  # type: ignore[index]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, SpecError):
        return None


def _meant_by(path: Path, check_stack: StackCheck) -> str:
    """Return what to write instead of ``path``, which is no race file, to stand behind that."""
    if path.is_dir():
        file = path / "race.toml"
        return f"; did you mean {file if file.is_file() else f'--project {path}'}?"
    if flags := flags_named(str(path), Path.cwd()):
        return f"; did you mean {', or '.join(flags)}?"
    if path.suffix == ".py" and path.is_file():
        return f"; no app was found in it: name yours as in --wsgi {path.stem}:app, or --asgi {path.stem}:app"
    if url := url_meant(str(path)):
        return f"; a race starts the app itself; to load a server that runs: stackrace load {url}"
    if near := race_file_near(path):
        return f"; did you mean {near}?"
    try:
        check_stack(str(path))
    except StackraceError:
        return "; give an existing one, or none for the defaults"
    return f"; did you mean --stack {path}?"


def race_file_near(path: Path) -> str:
    """Return the race file in its folder whose name is most like ``path``; empty where none is like it."""
    try:
        names = [str(file) for file in path.parent.glob("*.toml") if file.name != "pyproject.toml"]
    except OSError:
        return ""
    return next(iter(get_close_matches(str(path), names, n=1)), "")
