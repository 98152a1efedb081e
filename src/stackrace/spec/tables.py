"""The tables of race.toml, each key with its type and range."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    field_validator,
    model_validator,
)

from ..model.app import Entry, EntryKind
from ..model.core_lists import parse_cores
from ..model.errors import StackraceError
from ..model.units import DURATION, PERCENT, SIZE, Unit
from .request import LEAST_MEMORY_BYTES

__all__ = ["NamedWorkloadTable", "RaceFileTable"]

MOST_REQUESTS = 1_000_000_000
MOST_REPEATS = 1000


def _quantity(unit: Unit) -> BeforeValidator:
    def read(value: object) -> object:
        if isinstance(value, str):
            try:
                return unit.parse(value)
            except StackraceError as error:
                raise ValueError(error.message) from error
        return value

    return BeforeValidator(read)


def _cores(value: object) -> tuple[int, ...]:
    if not isinstance(value, str):
        raise ValueError('is no list of cores; write it like "0-3" or "0,2,4-6"')
    try:
        return parse_cores(value)
    except StackraceError as error:
        raise ValueError(error.message) from error


Cores = Annotated[tuple[int, ...], PlainValidator(_cores)]
Memory = Annotated[float, _quantity(SIZE), Field(ge=LEAST_MEMORY_BYTES, allow_inf_nan=False)]
Seconds = Annotated[float, _quantity(DURATION), Field(gt=0, allow_inf_nan=False)]
Fraction = Annotated[float, _quantity(PERCENT), Field(gt=0, lt=1)]
Connections = Annotated[int, Field(ge=1, le=20_000)]
Path_ = Annotated[str, Field(pattern=r"^/", description="an absolute path, starting with /")]


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$", description="letters, digits, - and _")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class AppTable(_Table):
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
    def _one_entry(self) -> AppTable:
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
    """What is asked for: URLs in turn, or a recorded session."""

    urls: Annotated[list[Path_], Field(min_length=1)] | None = None
    session: Annotated[str, Field(min_length=1)] | None = None
    think: bool = False

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
        return headers


class NamedWorkloadTable(_Requests):
    stacks: Annotated[list[str], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.urls is None and self.session is None:
            raise ValueError("give it urls or session")
        return self


def _requests(value: object) -> int | dict[int, int]:
    """Read ``500``, or ``{ "20" = 1000, "500" = 10000 }``: TOML's keys are text."""
    example = 'write it like 500, or { "20" = 1000, "500" = 10000 } with a number for each concurrency'
    if isinstance(value, dict) and value:
        if not all(isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 9 for key in value):
            raise ValueError(f"the keys must be numbers of connections; {example}")
        return {int(key): _number(count, example) for key, count in value.items()}
    return _number(value, example)


def _number(value: object, example: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_REQUESTS:
        raise ValueError(f"is no number of requests; {example}")
    return value


class LoadTable(_Table):
    concurrency: Annotated[list[Connections], Field(min_length=1)] | None = None
    keep_alive: bool = True
    timeout: Seconds = 10.0
    requests: Annotated[int | dict[int, int] | None, PlainValidator(_requests)] = None
    duration: Seconds | None = None

    @model_validator(mode="after")
    def _one_length(self) -> LoadTable:
        if self.requests is not None and self.duration is not None:
            raise ValueError("give requests or duration, not both")
        return self


class RaceTable(_Table):
    question: Literal["winner", "ranking"] = "winner"
    difference: Fraction = 0.05
    budget: Seconds | None = None
    slice: Seconds | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    servers: str | None = None
    stacks: Annotated[list[str], Field(min_length=1)] | None = None
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] | None = None
    exhaustive: bool = False
    twin: bool = True
    cores: Cores | None = None
    engine_cores: Cores | None = None
    memory: Memory | None = None
    quota: bool = False


class RaceFileTable(_Table):
    app: AppTable = AppTable()
    workload: WorkloadTable = WorkloadTable()
    workloads: Annotated[dict[Name, NamedWorkloadTable], Field(min_length=1)] | None = None
    load: LoadTable = LoadTable()
    race: RaceTable = RaceTable()
