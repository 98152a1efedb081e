"""comparison.toml: read, checked, and every problem reported at once with the file and line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from ...base.errors import SpecError, said_by
from ...base.numbers import things
from ...base.text import did_you_mean
from ...race.request.toml_file import line_of
from .model import (
    Basis,
    CellName,
    Claim,
    Comparison,
    Figure,
    Kind,
    Level,
    Levels,
    Metric,
    Mix,
    Part,
    Source,
    Table,
    Technique,
)
from .ratios import published_ratio

_Location = tuple[str | int, ...]


class _Table(BaseModel):
    # not strict about enumerations: TOML knows only strings
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, frozen=True)


class _Cell(_Table):
    """A cell of a claim, from which is taken what is not given."""

    technique: str
    workload: str | None = None
    concurrency: Level | None = None

    def of(self, workload: str, level: int) -> CellName:
        return CellName(
            technique=self.technique,
            workload=workload if self.workload is None else self.workload,
            concurrency=level if self.concurrency is None else self.concurrency,
        )


def _as_cell(value: object) -> object:
    """A technique's name alone is a cell that takes everything else from what it stands in."""
    return {"technique": value} if isinstance(value, str) else value


class _Claim(_Table):
    """``[[claim]]``: made once for each of its workloads and levels."""

    says: Annotated[str, Field(min_length=1)]
    part: str = ""
    metric: Metric = Metric.THROUGHPUT
    kind: Kind
    this: Annotated[_Cell, BeforeValidator(_as_cell)]
    that: Annotated[_Cell | None, BeforeValidator(_as_cell)] = None
    workload: Annotated[list[str], BeforeValidator(lambda value: value if isinstance(value, list) else [value])] = [
        ""
    ]
    levels: Levels
    basis: Basis = Basis.MEASURED
    ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _two_cells_make_a_ratio(self) -> _Claim:
        if self.kind.is_ratio and self.that is None:
            raise ValueError(f"kind {self.kind.value!r} compares two cells; say against what with: that")
        if not self.kind.is_ratio and (self.that is not None or self.ratio is not None):
            raise ValueError(f"kind {self.kind.value!r} speaks of one cell: leave out that and ratio")
        if self.metric in (Metric.CPU, Metric.ERRORS) and self.kind.is_ratio:
            raise ValueError(f"metric {self.metric.value!r} makes no ratios; use kind fails or lives for errors")
        return self


def _with_cell(value: object) -> object:
    """Put what names a figure's cell into one."""
    if not isinstance(value, dict):
        return value
    names = ("technique", "workload", "concurrency")
    cell = {name: value[name] for name in names if name in value}
    return {name: each for name, each in value.items() if name not in names} | {"cell": cell}


class _Document(_Table):
    """The whole file."""

    title: Annotated[str, Field(min_length=1)]
    year: Annotated[int, Field(ge=1990, le=2100)]
    lost: str = ""
    source: Source
    parts: Annotated[dict[str, Part], Field(min_length=1)]
    techniques: Annotated[dict[str, Technique], Field(min_length=1)]
    figure: list[Annotated[Figure, BeforeValidator(_with_cell)]] = []
    table: list[Table] = []
    mix: list[Mix] = []
    claim: Annotated[list[_Claim], Field(min_length=1)]

    def part_of(self, part: str) -> str:
        """Return the part's key; where there is a single part it need not be said."""
        return part or (next(iter(self.parts)) if len(self.parts) == 1 else "")


def read_comparison(name: str) -> Comparison:
    """Return the published comparison ``name``, one of ``NAMES``; raises SpecError as `read_folder` does."""
    return read_folder(Path(__file__).parent / name)


def read_folder(folder: Path) -> Comparison:
    """Return what ``folder``/comparison.toml holds.

    Raises SpecError listing every problem with its line: unreadable TOML, unknown keys, values of a wrong kind,
    names of techniques and parts that are none, race files that are not there.
    """
    path = folder / "comparison.toml"
    try:
        text = path.read_text(encoding="utf-8")
        document = _Document.model_validate(tomllib.loads(text))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SpecError(f"{path} cannot be read: {said_by(error)}") from error
    except ValidationError as error:
        raise _refused(path, text, _invalid(error)) from error
    wrong = [*_unknown_names(document), *_missing_files(document, folder)]
    if wrong:
        raise _refused(path, text, wrong)
    return _comparison(document, folder)


def _refused(path: Path, text: str, problems: Iterable[tuple[_Location, str]]) -> SpecError:
    lines = sorted({(line_of(text, place) or 1, f"{_named(place)}: {what}") for place, what in problems})
    listed = "\n".join(f"  line {line}: {message}" for line, message in lines)
    return SpecError(f"{path} has {things(len(lines), 'problem')}:\n{listed}")


def _named(place: _Location) -> str:
    """Name a place: counted from one, as ``claim 3.kind``."""
    return "".join(f" {part + 1}" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def _invalid(error: ValidationError) -> Iterator[tuple[_Location, str]]:
    for problem in error.errors(include_url=False, include_input=False):
        yield problem["loc"] or ("file",), problem["msg"].removeprefix("Value error, ")


def _unknown_names(document: _Document) -> Iterator[tuple[_Location, str]]:
    known = document.techniques
    for key, technique in known.items():
        if technique.companion and not (technique.companion in known and known[technique.companion].gone):
            yield ("techniques", key, "companion"), f"its companion {technique.companion!r} is not gone"
    for kind in ("figure", "table", "mix", "claim"):
        for i, entry in enumerate(getattr(document, kind)):
            for name in _techniques_of(entry):
                if name not in known:
                    yield (kind, i), f"no technique is called {name!r}{did_you_mean(name, known)}"
            if document.part_of(entry.part) not in document.parts:
                yield (kind, i), f"no part is called {entry.part!r}{did_you_mean(entry.part, document.parts)}"


def _techniques_of(entry: Figure | Table | Mix | _Claim) -> tuple[str, ...]:
    match entry:
        case Figure():
            return (entry.cell.technique,)
        case Table():
            return tuple(row.technique for row in entry.rows)
        case Mix():
            return (entry.technique,)
        case _:
            return tuple(cell.technique for cell in (entry.this, entry.that) if cell is not None)


def _missing_files(document: _Document, folder: Path) -> Iterator[tuple[_Location, str]]:
    for key, part in document.parts.items():
        if not (folder / part.file).is_file():
            yield ("parts", key, "file"), f"there is no race file {str(part.file)!r} beside it"


def _comparison(document: _Document, folder: Path) -> Comparison:
    figures = tuple(replace(entry, part=document.part_of(entry.part)) for entry in document.figure)
    originals = {key: technique.original for key, technique in document.techniques.items()} | {"": ""}
    return Comparison(
        name=folder.name,
        title=document.title,
        year=document.year,
        source=document.source,
        parts=tuple(replace(part, key=key, file=folder / part.file) for key, part in document.parts.items()),
        techniques={
            key: replace(technique, key=key, companion=originals[technique.companion])
            for key, technique in document.techniques.items()
        },
        figures=figures,
        claims=tuple(claim for entry in document.claim for claim in _claims(document, entry, figures)),
        tables=tuple(replace(entry, part=document.part_of(entry.part)) for entry in document.table),
        mixes=tuple(replace(entry, part=document.part_of(entry.part)) for entry in document.mix),
        lost=document.lost,
    )


def _claims(document: _Document, entry: _Claim, figures: tuple[Figure, ...]) -> Iterator[Claim]:
    part = document.part_of(entry.part)
    for workload in entry.workload:
        for level in entry.levels:
            this = entry.this.of(workload, level)
            that = None if entry.that is None else entry.that.of(workload, level)
            ratio = entry.ratio
            if ratio is None and that is not None:
                ratio = published_ratio(figures, part, entry.metric, this, that)
            yield Claim(
                says=entry.says, part=part, metric=entry.metric, kind=entry.kind, this=this, that=that,
                basis=entry.basis, ratio=ratio,
            )  # fmt: skip
