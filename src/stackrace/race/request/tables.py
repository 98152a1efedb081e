"""The tables of race.toml, each key with its type and range.

A key with the meaning of a request's field has the field's name here, and the key's own name as an alias.
"""

from __future__ import annotations

from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    create_model,
    field_validator,
    model_validator,
)

from ...app.app import Entry, EntryKind
from ...app.command_lines import command_of
from ...base.errors import StackraceError
from ...base.http_syntax import by_prefix, header_fault, host_fault, path_fault
from ...base.units import DURATION, PERCENT, SIZE, Unit
from ...extensions import RequestPart, declared, load
from ...measure.load import MOST_HELD
from ...measure.resources import parse_cores
from ...measure.workload import RightAnswers
from .expectations import read_check
from .request import LEAST_MEMORY_BYTES, MOST_SEED

_MOST_REQUESTS = 1_000_000_000
_MOST_REPEATS = 1000


def _quantity(unit: Unit) -> BeforeValidator:
    def read(value: object) -> object:
        if isinstance(value, str):
            try:
                return unit.parse(value)
            except StackraceError as error:
                raise ValueError(error.message) from error
        return value

    return BeforeValidator(read, json_schema_input_type=float | str)


def _cores(value: object) -> tuple[int, ...]:
    if not isinstance(value, str):
        raise ValueError('is no list of cores; write it like "0-3" or "0,2,4-6"')
    try:
        return parse_cores(value)
    except StackraceError as error:
        raise ValueError(error.message) from error


def _path(value: str) -> str:
    if fault := path_fault(value):
        raise ValueError(f"{value!r} {fault}")
    return value


_Cores = Annotated[tuple[int, ...], PlainValidator(_cores, json_schema_input_type=str)]
_Bytes = Annotated[float, _quantity(SIZE), Field(ge=0, allow_inf_nan=False), AfterValidator(int)]
_Memory = Annotated[float, _quantity(SIZE), Field(ge=LEAST_MEMORY_BYTES, allow_inf_nan=False), AfterValidator(int)]
Seconds = Annotated[float, _quantity(DURATION), Field(gt=0, allow_inf_nan=False)]
_Fraction = Annotated[float, _quantity(PERCENT), Field(gt=0, lt=1)]
_Check = Annotated[
    RightAnswers, PlainValidator(read_check, json_schema_input_type=str | dict[str, str | dict[str, str]])
]
_Connections = Annotated[int, Field(ge=1, le=20_000)]
_Held = Annotated[int, Field(ge=0, le=MOST_HELD)]
_Path_ = Annotated[str, AfterValidator(_path), Field(description="an absolute path, starting with /")]
_Variable = Annotated[str, Field(pattern=r"^[^=]+$", description="the name of a variable, without =")]


_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$", description="letters, digits, - and _")]


_Command = Annotated[
    tuple[str, ...], PlainValidator(command_of, json_schema_input_type=str | list[str] | dict[str, str | bool])
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


def _listed(value: object) -> object:
    """Return a single path that was written without brackets as a list."""
    return [value] if isinstance(value, str) else value


class _AppTable(_Table):
    django: str | None = None
    wsgi: str | None = None
    asgi: str | None = None
    rack: str | None = None
    files: str | None = None
    bundled: str | None = None
    python: str | None = None
    ruby: str | None = None
    root: str = "."
    static: dict[str, str] | None = None
    prepare: list[_Command] = []
    services: list[str] = []
    protect: Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=str | list[str])] = []
    most_copied_bytes: _Bytes | None = Field(default=None, alias="copy_limit")
    environment: dict[_Variable, str] = Field(default={}, alias="env")
    env_file: Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=str | list[str])] = []

    @field_validator("static")
    @classmethod
    def _url_prefixes(cls, static: dict[str, str] | None) -> dict[str, str] | None:
        try:
            by_prefix(dict.fromkeys(static or (), Path()))
        except StackraceError as error:
            raise ValueError(error.message) from error
        return static

    @model_validator(mode="after")
    def _one_entry(self) -> _AppTable:
        given = [key for key in (*EntryKind, "bundled") if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"give only one of {', '.join(given)}")
        return self

    @property
    def entry(self) -> Entry | None:
        for kind in EntryKind:
            target = getattr(self, kind)
            if target is not None:
                return Entry(kind=kind, target=target)
        return None


class _Requests(_Table):
    """Requests: URLs in turn, or a recorded session."""

    urls: Annotated[list[_Path_], Field(min_length=1)] | None = None
    session: Annotated[str, Field(min_length=1)] | None = None
    think: bool = False
    check: _Check = {}

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.urls is not None and self.session is not None:
            raise ValueError("give urls or session, not both")
        if self.think and self.session is None:
            raise ValueError("think keeps the pauses of a recording; give it with session")
        return self


class WorkloadTable(_Requests):
    host: str | None = None
    headers: dict[str, str] = {}

    @field_validator("headers")
    @classmethod
    def _no_host(cls, headers: dict[str, str]) -> dict[str, str]:
        if any(name.lower() == "host" for name in headers):
            raise ValueError("Host would be sent twice; give it as [workload] host")
        if fault := next(filter(None, starmap(header_fault, headers.items())), ""):
            raise ValueError(fault)
        return headers

    @field_validator("host")
    @classmethod
    def _one_host(cls, host: str | None) -> str | None:
        if host is not None and (fault := host_fault(host)):
            raise ValueError(fault)
        return host


class NamedWorkloadTable(_Requests):
    stacks: Annotated[list[str], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.urls is None and self.session is None:
            raise ValueError("give it urls or session")
        return self


def _requests(value: object) -> int | dict[int, int]:
    """Return the number in ``500``, or the numbers in ``{ "20" = 1000, "500" = 10000 }``: TOML's keys are text."""
    example = 'write it like 500, or { "20" = 1000, "500" = 10000 } with a number for each concurrency'
    if isinstance(value, dict) and value:
        if not all(isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 9 for key in value):
            raise ValueError(f"the keys must be numbers of connections; {example}")
        return {int(key): _number(count, example) for key, count in value.items()}
    return _number(value, example)


def _number(value: object, example: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_REQUESTS:
        raise ValueError(f"is no number of requests; {example}")
    return value


class _LoadTable(_Table):
    concurrency: Annotated[list[_Connections], Field(min_length=1)] | None = None
    keep_alive: bool | None = None
    timeout_s: Seconds | None = Field(default=None, alias="timeout")
    silent: _Held = 0
    idle: _Held = 0
    requests: Annotated[
        int | dict[int, int] | None, PlainValidator(_requests, json_schema_input_type=int | dict[str, int])
    ] = None
    run_s: Seconds | None = Field(default=None, alias="duration")

    @model_validator(mode="after")
    def _one_length(self) -> _LoadTable:
        if self.requests is not None and self.run_s is not None:
            raise ValueError("give requests or duration, not both")
        return self


class _RaceTable(_Table):
    question: Literal["winner", "ranking"] | None = None
    difference: _Fraction | None = None
    budget_s: Seconds | None = Field(default=None, alias="budget")
    slice_s: Seconds | None = Field(default=None, alias="slice")
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)] | None = None
    servers: str | None = None
    stacks: Annotated[list[str], Field(min_length=1)] | None = None
    repeats: Annotated[int, Field(ge=1, le=_MOST_REPEATS)] | None = None
    exhaustive: bool | None = None
    give_up: bool | None = None
    twin: bool | None = None
    cores: _Cores | None = None
    engine_cores: _Cores | None = None
    memory_bytes: _Memory | None = Field(default=None, alias="memory")
    quota: bool | None = None
    priority: bool | None = None


if TYPE_CHECKING:
    RaceTable = _RaceTable
else:
    _OF_FEATURES = {
        key: (kind | None, None)
        for part in declared(RequestPart)
        for key, kind in load(part.import_path).keys().items()
    }
    RaceTable = create_model("RaceTable", __base__=_RaceTable, **_OF_FEATURES)


class RaceFileTable(_Table):
    app: _AppTable = _AppTable()
    workload: WorkloadTable = WorkloadTable()
    workloads: Annotated[dict[_Name, NamedWorkloadTable], Field(min_length=1)] | None = None
    load: _LoadTable = _LoadTable()
    race: RaceTable = RaceTable()
