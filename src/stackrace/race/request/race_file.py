"""Reading and checking of race.toml, with the line of each problem, and suggestions for mistyped arguments."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ...app.projects.detection import entry_named, flags_named
from ...base.errors import SpecError, StackraceError, said_by
from ...base.files import real_path
from ...base.numbers import things
from ...base.secrets import register_settings
from ...base.text import did_you_mean, url_meant
from ...stacks.servers import catalogue
from ...stacks.setting import Interface
from ...stacks.stack_path import parse_stack
from ...stats.values import Question
from ..results.parts import Parts
from .contradictions import contradictions
from .request import RaceRequest, WorkloadRequest, parts_over
from .tables import NamedWorkloadTable, RaceFileTable, WorkloadTable
from .toml_file import in_words, line_of, read_table, read_text

_StackCheck = Callable[[str], object]
"""Function that raises StackraceError for a stack path that is not legal for the app; its result is not used."""

_NUL = "has a NUL, which no path, variable, command or URL can have; leave it out"

_LONG_NUMBER = re.compile(r"[0-9_]{1000}|0[xob][0-9A-Fa-f_]{1000}")


def read_request(race_file: Path | str, servers: Path | None = None, *, recordings: bool = True) -> RaceRequest:
    """Return the request in ``race_file``; the folder ``servers``, if given, replaces the folder that the file
    names.

    If ``recordings`` is False, recordings that the file names need not exist yet.

    Raises SpecError listing every problem with its line, InputError for a misspelt app.
    """
    race_file = Path(race_file)
    servers = servers or _servers_named_in(race_file)
    known = catalogue().extended(servers)

    def check_stack(path: str) -> object:
        return parse_stack(path, known.specs, frozenset(Interface))

    request = read_race_file(race_file, check_stack, recordings=recordings)
    entry = request.entry and entry_named(request.entry.kind, request.entry.target, request.folder)
    return replace(request, servers=servers, entry=entry)


def _servers_named_in(race_file: Path) -> Path | None:
    """Return the folder that ``[race] servers`` names; None if it names none, or if the file is wrong, which is
    reported later.

    The folder is needed before the file is checked, because the stacks in the file are checked against the
    catalogue with this folder.
    """
    try:
        race = read_table(read_text(race_file))["race"]
        return Path(race_file.parent / race["servers"]).resolve()  # type: ignore[index]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, SpecError):
        return None


def read_race_file(path: Path, check_stack: _StackCheck, *, recordings: bool = True) -> RaceRequest:
    """Return the request in the race file ``path``; relative paths in it start from its folder.

    If ``recordings`` is False, recordings that the file names need not exist yet.

    Raises SpecError listing every problem with its line: unreadable TOML, unknown keys with the nearest known one,
    values of a wrong kind or out of range, keys that contradict each other, recordings that do not exist, and stack
    paths that ``check_stack`` rejects.
    """
    try:
        return _parsed_request(path, _read(path, check_stack), check_stack, recordings=recordings)
    except RecursionError as error:
        raise SpecError(f"{path} is nested too deeply; no key of a race file is deeper than four") from error


def _parsed_request(path: Path, text: str, check_stack: _StackCheck, *, recordings: bool) -> RaceRequest:
    register_settings(text)
    try:
        table = read_table(text)
    except tomllib.TOMLDecodeError as error:
        if path.suffix == ".py":
            raise SpecError(f"{path} is Python, not a race file{_meant_by(path, check_stack)}") from error
        raise SpecError(f"{path} is not TOML: {error}") from error
    except ValueError as error:
        # Python does not read numbers of thousands of digits
        line = next((n for n, each in enumerate(text.splitlines(), 1) if _LONG_NUMBER.search(each)), 1)
        raise SpecError(f"{path} has a number that is too long, in line {line}; write a smaller one") from error
    problems: list[tuple[int, str]] = []
    parsed: RaceFileTable | None = None
    try:
        parsed = RaceFileTable.model_validate(table)
        problems += [
            (line_of(text, where) or 1, f"{'.'.join(where)}: {said}")
            for where, said in contradictions(parsed, path.parent, recordings=recordings)
        ]
    except ValidationError as error:
        problems += _invalid(text, table, error)
    problems += _illegal_stacks(text, table, check_stack)
    problems += [(line_of(text, where) or 1, f"{'.'.join(where)}: {_NUL}") for where in _with_nul(table)]
    if problems or parsed is None:
        lines = "\n".join(f"  line {line}: {message}" for line, message in sorted(set(problems)))
        raise SpecError(f"{path} has {things(len(set(problems)), 'problem')}:\n{lines}")
    return _request(path, parsed)


def _read(path: Path, check_stack: _StackCheck) -> str:
    try:
        return read_text(path)
    except (FileNotFoundError, IsADirectoryError) as error:
        what = "there is no race file {}" if isinstance(error, FileNotFoundError) else "{} is a folder"
        raise SpecError(what.format(path) + _meant_by(path, check_stack)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"the race file {path} cannot be read: {said_by(error)}") from error


def _invalid(text: str, table: object, error: ValidationError) -> Iterator[tuple[int, str]]:
    for problem in error.errors(include_url=False):
        location = problem["loc"]
        key = ".".join(str(part) for part in location) or "file"
        message = in_words(problem)
        if problem["type"] == "extra_forbidden":
            message = f"unknown key{_home(location) or did_you_mean(str(location[-1]), _known(location[:-1]))}"
        yield _line_of(text, table, location), f"{key}: {message}"


def _line_of(text: str, table: object, location: tuple[str | int, ...]) -> int:
    """Return the line of the key at ``location``; for a text in a list, the line of this text."""
    value = table
    for part in location:
        try:
            value = value[part]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            value = None
    words = value.get("run") if isinstance(value, dict) else value
    if isinstance(words, str) and isinstance(location[-1], int):
        return _line_quoting(text, words, location)
    return line_of(text, location) or 1


def _known(table: tuple[str | int, ...]) -> list[str]:
    """Return the known keys of the table at the path ``table``; empty if a race file has no such table."""
    kind: object = RaceFileTable
    for part in table:
        kind = get_args(kind)[1] if _is_named(kind) else _present(_keys_of(kind).get(str(part)))
    return list(_keys_of(kind))


def _keys_of(kind: object) -> dict[str, Any]:
    """Return the keys of a table as written in race files, each with its type; empty if ``kind`` is not a table."""
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return {}
    return {field.alias or name: field.annotation for name, field in kind.model_fields.items()}


def _home(location: tuple[str | int, ...]) -> str:
    """Return a hint to the right table for a key that stands before all tables; empty if it belongs in none."""
    tables = [table for table in _known(()) if len(location) == 1 and location[0] in _known((table,))]
    return f"; write it below [{tables[0]}]" if tables else ""


def _present(kind: object) -> object:
    """Return the ``dict`` type within ``kind``, without None and constraints; ``kind`` itself if there is none."""
    for part in get_args(kind):
        inner = get_args(part)[0] if hasattr(part, "__metadata__") else part
        if _is_named(inner):
            return inner
    return kind


def _is_named(kind: object) -> bool:
    return get_origin(kind) is dict


def _with_nul(value: object, where: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _with_nul(inner, (*where, name.replace("\0", "\\0")))
            yield from _with_nul(name, where)
    elif isinstance(value, list):
        for inner in value:
            yield from _with_nul(inner, where)
    elif isinstance(value, str) and "\0" in value:
        yield where


def _illegal_stacks(text: str, table: dict[str, object], check: _StackCheck) -> Iterator[tuple[int, str]]:
    race = table.get("race")
    stacks = race.get("stacks") if isinstance(race, dict) else None
    for stack in stacks if isinstance(stacks, list) else []:
        if not isinstance(stack, str):
            continue
        try:
            check(stack)
        except StackraceError as error:
            yield _line_quoting(text, stack, ("race", "stacks")), f"race.stacks: {error.message}"


def _line_quoting(text: str, words: str, location: Sequence[str | int]) -> int:
    """Return the line where the entry ``words`` of the list at ``location`` stands in quotes."""
    for number, line in enumerate(text.splitlines(), start=1):
        quoted = f'"{words}"' in line or f"'{words}'" in line or json.dumps(words) in line
        if quoted and not line.lstrip().startswith("#"):
            return number
    return line_of(text, location) or 1


def _request(path: Path, parsed: RaceFileTable) -> RaceRequest:
    app, load, race, workload = parsed.app, parsed.load, parsed.race, parsed.workload
    folder = real_path(path.parent / app.root)
    said = {
        name: value for table in (app, load, race, workload) for name, value in _given_values(table, RaceRequest)
    }
    placed: dict[str, Any] = {
        "folder": folder,
        "source": path,
        "entry": app.entry,
        # not resolve(): a virtual environment's interpreter is a link, and must stay one
        "python": (folder / Path(app.python).expanduser()) if app.python else None,
        "ruby": (folder / Path(app.ruby).expanduser()) if app.ruby else None,
        "env_files": tuple(path.parent / name for name in app.env_file),
        "static": None if app.static is None else {url: folder / place for url, place in app.static.items()},
        "protect": tuple(folder / Path(name).expanduser() for name in app.protect),
        "headers": tuple(workload.headers.items()),
        "question": Question(race.question or Question.WINNER),
        "session": _session(workload, path),
        "workloads": tuple(_workload(name, table, path) for name, table in (parsed.workloads or {}).items()),
        "run_requests": load.requests if isinstance(load.requests, int) else None,
        "run_requests_at": load.requests if isinstance(load.requests, dict) else {},
        "servers": None if race.servers is None else real_path(path.parent / race.servers),
        "parts": parts_over(Parts(), race.model_dump(exclude_none=True), path.parent.absolute()),
    }
    return RaceRequest(**{**said, **placed})


def _given_values(table: BaseModel, kind: type[RaceRequest | WorkloadRequest]) -> Iterator[tuple[str, Any]]:
    for name in table.model_fields_set & {field.name for field in fields(kind)}:
        value = getattr(table, name)
        yield name, tuple(value) if isinstance(value, list) else value


def _workload(name: str, table: NamedWorkloadTable, path: Path) -> WorkloadRequest:
    said = dict(_given_values(table, WorkloadRequest))
    return WorkloadRequest(**{**said, "name": name, "session": _session(table, path)})


def _session(table: WorkloadTable | NamedWorkloadTable, path: Path) -> Path | None:
    return None if table.session is None else (path.parent / table.session).absolute()


def _meant_by(path: Path, check_stack: _StackCheck) -> str:
    """Return a suggestion to append to the message that ``path`` is no race file."""
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
    """Return the race file in its folder with the name most similar to ``path``; empty if none is similar."""
    try:
        names = [str(file) for file in path.parent.glob("*.toml") if file.name != "pyproject.toml"]
    except OSError:
        return ""
    return next(iter(get_close_matches(str(path), names, n=1)), "")
