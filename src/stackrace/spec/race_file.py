"""race.toml: read, checked, and every problem reported at once with its line."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from ..model.app import Entry, EntryKind
from ..model.errors import SpecError, StackraceError
from ..model.race import Question
from ..model.units import DURATION, PERCENT, Unit
from .nearest import did_you_mean
from .request import RaceRequest
from .toml_lines import line_of

__all__ = ["read_race_file"]

StackCheck = Callable[[str], object]
"""Raises StackraceError for a stack path that is not legal for the app; its result is not used."""


def _quantity(unit: Unit) -> BeforeValidator:
    def read(value: object) -> object:
        if isinstance(value, str):
            try:
                return unit.parse(value)
            except StackraceError as error:
                raise ValueError(error.message) from error
        return value

    return BeforeValidator(read)


Seconds = Annotated[float, _quantity(DURATION), Field(gt=0, allow_inf_nan=False)]
Fraction = Annotated[float, _quantity(PERCENT), Field(gt=0, lt=1)]
Path_ = Annotated[str, Field(pattern=r"^/", description="an absolute path, starting with /")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class _App(_Table):
    django: str | None = None
    wsgi: str | None = None
    asgi: str | None = None
    rack: str | None = None
    files: str | None = None
    bundled: str | None = None
    python: str | None = None
    ruby: str | None = None
    root: str = "."
    static: dict[Path_, str] | None = None
    prepare: list[str] = []
    services: list[str] = []
    env: dict[str, str] = {}

    @model_validator(mode="after")
    def _one_entry(self) -> _App:
        given = [key for key in (*EntryKind, "bundled") if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of {', '.join(given)}, not {len(given)}: an app has one entry")
        return self

    @property
    def entry(self) -> Entry | None:
        for kind in EntryKind:
            target = getattr(self, kind)
            if target is not None:
                return Entry(kind=kind, target=target)
        return None


class _Workload(_Table):
    urls: Annotated[list[Path_], Field(min_length=1)] | None = None
    host: str | None = None
    headers: dict[str, str] = {}

    @field_validator("headers")
    @classmethod
    def _no_host(cls, headers: dict[str, str]) -> dict[str, str]:
        if any(name.lower() == "host" for name in headers):
            raise ValueError("Host would be sent twice; give it as [workload] host")
        return headers


class _Load(_Table):
    concurrency: Annotated[list[Annotated[int, Field(ge=1, le=20_000)]], Field(min_length=1)] | None = None
    keep_alive: bool = True
    timeout: Seconds = 10.0


class _Race(_Table):
    question: Literal["winner", "ranking"] = "winner"
    difference: Fraction = 0.05
    budget: Seconds | None = None
    slice: Seconds | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    servers: str | None = None
    stacks: Annotated[list[str], Field(min_length=1)] | None = None


class _RaceFile(_Table):
    app: _App = _App()
    workload: _Workload = _Workload()
    load: _Load = _Load()
    race: _Race = _Race()


def read_race_file(path: Path, check_stack: StackCheck) -> RaceRequest:
    """Return what ``path`` asks for; relative paths in it are relative to its folder.

    Raises SpecError listing every problem with its line: unreadable TOML, unknown keys with the nearest known
    one, values of a wrong kind or out of range, and stack paths that ``check_stack`` refuses.
    """
    text = _read(path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path} is not TOML: {error}") from error
    problems: list[tuple[int, str]] = []
    parsed: _RaceFile | None = None
    try:
        parsed = _RaceFile.model_validate(table)
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
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = f"unknown key{did_you_mean(str(location[-1]), _known(location[:-1]))}"
        yield line_of(text, location) or 1, f"{key}: {message}"


def _known(table: tuple[str | int, ...]) -> list[str]:
    model: type[BaseModel] = _RaceFile
    for part in table:
        field = model.model_fields.get(str(part))
        if field is None or not isinstance(field.annotation, type):
            return []
        model = field.annotation
    return list(model.model_fields)


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


def _request(path: Path, parsed: _RaceFile) -> RaceRequest:
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
        bundled=app.bundled,
        servers=None if race.servers is None else (path.parent / race.servers).resolve(),
    )
