"""race.toml: read, checked, and every problem reported at once with its line."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args, get_origin

from pydantic import BaseModel, ValidationError

from ..model.errors import SpecError, StackraceError
from ..model.race import Question
from .contradictions import contradictions
from .nearest import did_you_mean
from .problem_words import in_words
from .request import RaceRequest, WorkloadRequest
from .tables import NamedWorkloadTable, RaceFileTable
from .toml_lines import line_of

__all__ = ["read_race_file"]

StackCheck = Callable[[str], object]
"""Raises StackraceError for a stack path that is not legal for the app; its result is not used."""


def read_race_file(path: Path, check_stack: StackCheck) -> RaceRequest:
    """Return what ``path`` asks for; relative paths in it are relative to its folder.

    Raises SpecError listing every problem with its line: unreadable TOML, unknown keys with the nearest known
    one, values of a wrong kind or out of range, keys that contradict each other, recordings that do not exist, and
    stack paths that ``check_stack`` refuses.
    """
    text = _read(path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path} is not TOML: {error}") from error
    problems: list[tuple[int, str]] = []
    parsed: RaceFileTable | None = None
    try:
        parsed = RaceFileTable.model_validate(table)
        problems += [(line_of(text, where) or 1, said) for where, said in contradictions(parsed, path.parent)]
    except ValidationError as error:
        problems += _invalid(text, error)
    problems += _illegal_stacks(text, table, check_stack)
    if problems or parsed is None:
        lines = "\n".join(f"  line {line}: {message}" for line, message in sorted(set(problems)))
        count = len(set(problems))
        raise SpecError(f"{path} has {count} problem{'s' if count > 1 else ''}:\n{lines}")
    return _request(path, parsed)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SpecError(f"there is no race file {path}; give an existing one, or none for the defaults") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"the race file {path} cannot be read: {error}") from error


def _invalid(text: str, error: ValidationError) -> Iterator[tuple[int, str]]:
    for problem in error.errors(include_url=False, include_input=False):
        location = problem["loc"]
        key = ".".join(str(part) for part in location) or "file"
        message = in_words(problem)
        if problem["type"] == "extra_forbidden":
            message = f"unknown key{did_you_mean(str(location[-1]), _known(location[:-1]))}"
        yield line_of(text, location) or 1, f"{key}: {message}"


def _known(table: tuple[str | int, ...]) -> list[str]:
    """Return the keys of the table at ``table``; none where what stands there is no table of ours."""
    shape: object = RaceFileTable
    for part in table:
        if _is_named(shape):
            shape = get_args(shape)[1]
        elif isinstance(shape, type) and issubclass(shape, BaseModel) and part in shape.model_fields:
            shape = _present(shape.model_fields[str(part)].annotation)
        else:
            return []
    return list(shape.model_fields) if isinstance(shape, type) and issubclass(shape, BaseModel) else []


def _present(shape: object) -> object:
    """Return a shape without the None that stands for its absence, and without its limits."""
    for part in get_args(shape):
        inner = get_args(part)[0] if hasattr(part, "__metadata__") else part
        if _is_named(inner):
            return inner
    return shape


def _is_named(shape: object) -> bool:
    """Tell whether ``shape`` holds tables by names of the user's choice."""
    return get_origin(shape) is dict


def _illegal_stacks(text: str, table: dict[str, object], check: StackCheck) -> Iterator[tuple[int, str]]:
    race = table.get("race")
    stacks = race.get("stacks") if isinstance(race, dict) else None
    for stack in stacks if isinstance(stacks, list) else []:
        if not isinstance(stack, str):
            continue
        try:
            check(stack)
        except StackraceError as error:
            yield _line_quoting(text, stack), f"race.stacks: {error.message}"


def _line_quoting(text: str, stack: str) -> int:
    for number, line in enumerate(text.splitlines(), start=1):
        quoted = f'"{stack}"' in line or f"'{stack}'" in line
        if quoted and not line.lstrip().startswith("#"):
            return number
    return line_of(text, ("race", "stacks")) or 1


def _request(path: Path, parsed: RaceFileTable) -> RaceRequest:
    app, load, race, workload = parsed.app, parsed.load, parsed.race, parsed.workload
    folder = (path.parent / app.root).resolve()
    return RaceRequest(
        folder=folder,
        source=path,
        entry=app.entry,
        # not resolve(): a virtual environment's interpreter is a link, and the link is what matters
        python=(folder / Path(app.python).expanduser()) if app.python else None,
        ruby=(folder / Path(app.ruby).expanduser()) if app.ruby else None,
        environment=app.env,
        static=None if app.static is None else {url: folder / place for url, place in app.static.items()},
        prepare=tuple(tuple(shlex.split(command)) for command in app.prepare),
        services=tuple(app.services),
        urls=None if workload.urls is None else tuple(workload.urls),
        host=workload.host,
        headers=tuple(workload.headers.items()),
        concurrency=None if load.concurrency is None else tuple(load.concurrency),
        keep_alive=load.keep_alive,
        timeout_s=load.timeout,
        question=Question(race.question),
        difference=race.difference,
        budget_s=race.budget,
        slice_s=race.slice,
        seed=race.seed,
        stacks=None if race.stacks is None else tuple(race.stacks),
        session=None if workload.session is None else (path.parent / workload.session).absolute(),
        think=workload.think,
        workloads=tuple(_workload(name, table, path) for name, table in (parsed.workloads or {}).items()),
        repeats=race.repeats,
        run_requests=load.requests if isinstance(load.requests, int) else None,
        run_requests_at=load.requests if isinstance(load.requests, dict) else {},
        run_s=load.duration,
        exhaustive=race.exhaustive,
        twin=race.twin,
        cores=race.cores,
        engine_cores=race.engine_cores,
        memory_bytes=None if race.memory is None else int(race.memory),
        quota=race.quota,
        bundled=app.bundled,
        servers=None if race.servers is None else (path.parent / race.servers).resolve(),
    )


def _workload(name: str, table: NamedWorkloadTable, path: Path) -> WorkloadRequest:
    return WorkloadRequest(
        name=name,
        urls=tuple(table.urls or ()),
        session=None if table.session is None else (path.parent / table.session).absolute(),
        stacks=None if table.stacks is None else tuple(table.stacks),
        think=table.think,
    )
