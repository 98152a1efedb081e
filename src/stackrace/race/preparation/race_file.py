"""A race file read as a request, its stacks checked against the catalogue and the user's own servers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...app.projects.detection import entry_named
from ...base.errors import SpecError
from ...stacks.servers import catalogue
from ..request.race_file import read_race_file
from ..request.request import RaceRequest
from ..request.toml_file import read_table, read_text
from .choosing import asked
from .mistaken import meant_by

__all__ = ["read_request"]


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
        race_file, check_stack, recordings=recordings, meant_by=lambda path: meant_by(path, check_stack)
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
