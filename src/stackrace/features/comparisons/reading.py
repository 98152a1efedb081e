"""comparison.toml: read, checked, and every problem reported at once with the file and line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from ...base.errors import SpecError, said_by
from ...base.numbers import things
from ...base.text import did_you_mean
from ...race.request.toml_file import line_of
from . import schema
from .files import FILE, FOLDER
from .model import CellName, Claim, Comparison, Figure, Metric, Mix, Part, Row, Source, Table, Technique

__all__ = ["read_comparison", "read_folder"]

_Location = tuple[str | int, ...]


def read_comparison(name: str) -> Comparison:
    """Return the published comparison ``name``, one of ``NAMES``; raises SpecError as `read_folder` does."""
    return read_folder(FOLDER / name)


def read_folder(folder: Path) -> Comparison:
    """Return what ``folder``/comparison.toml holds.

    Raises SpecError listing every problem with its line: unreadable TOML, unknown keys, values of a wrong kind,
    names of techniques and parts that are none, race files that are not there.
    """
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
        document = schema.Document.model_validate(tomllib.loads(text))
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


def _unknown_names(document: schema.Document) -> Iterator[tuple[_Location, str]]:
    names: list[tuple[_Location, str]] = [(("gone", i), entry.technique) for i, entry in enumerate(document.gone)]
    names += [(("figure", i), figure.technique) for i, figure in enumerate(document.figure)]
    names += [(("mix", i), mix.technique) for i, mix in enumerate(document.mix)]
    gone = {entry.technique for entry in document.gone}
    for i, entry in enumerate(document.gone):
        if entry.companion and entry.companion not in gone:
            yield ("gone", i), f"its companion {entry.companion!r} is not gone"
    for i, table in enumerate(document.table):
        names += [(("table", i), row.technique) for row in table.rows]
    for i, claim in enumerate(document.claim):
        names += [(("claim", i), cell.technique) for cell in (claim.this, claim.that) if cell is not None]
    for place, name in names:
        if name not in document.techniques:
            yield place, f"no technique is called {name!r}{did_you_mean(name, document.techniques)}"
    parts: list[tuple[_Location, str | None]] = [
        (("figure", i), figure.part) for i, figure in enumerate(document.figure)
    ]
    parts += [(("table", i), table.part) for i, table in enumerate(document.table)]
    parts += [(("mix", i), mix.part) for i, mix in enumerate(document.mix)]
    parts += [(("claim", i), claim.part) for i, claim in enumerate(document.claim)]
    for place, part in parts:
        if document.part_of(part) not in document.parts:
            yield place, f"no part is called {part!r}{did_you_mean(str(part), document.parts)}"


def _missing_files(document: schema.Document, folder: Path) -> Iterator[tuple[_Location, str]]:
    for key, part in document.parts.items():
        if not (folder / part.file).is_file():
            yield ("parts", key, "file"), f"there is no race file {part.file!r} beside it"


def _comparison(document: schema.Document, folder: Path) -> Comparison:
    figures = tuple(_figure(document, entry) for entry in document.figure)
    return Comparison(
        name=folder.name,
        title=document.title,
        year=document.year,
        source=Source(**document.source.model_dump()),
        parts=tuple(_part(key, part, folder) for key, part in document.parts.items()),
        techniques=_techniques(document),
        figures=figures,
        claims=tuple(claim for entry in document.claim for claim in _claims(document, entry, figures)),
        tables=tuple(_table(document, entry) for entry in document.table),
        mixes=tuple(
            Mix(
                part=document.part_of(mix.part),
                technique=mix.technique,
                workload=mix.workload,
                concurrency=mix.concurrency,
            )
            for mix in document.mix
        ),
        lost=document.lost,
    )


def _part(key: str, part: schema.Part, folder: Path) -> Part:
    return Part(
        key=key,
        title=part.title,
        file=folder / part.file,
        quick_s=part.quick,
        quick_slice_s=part.quick_slice,
        quick_repeats=part.quick_repeats,
        quick_requests=part.quick_requests,
        deviations=part.deviations,
    )


def _techniques(document: schema.Document) -> Mapping[str, Technique]:
    gone = {entry.technique: entry for entry in document.gone}
    return {
        key: Technique(
            key=key,
            title=technique.title,
            path=technique.path,
            gone=gone[key].why if key in gone else "",
            instead=gone[key].instead if key in gone else "",
            original=gone[key].original if key in gone else "",
            companion=gone[gone[key].companion].original if key in gone and gone[key].companion else "",
        )
        for key, technique in document.techniques.items()
    }


def _figure(document: schema.Document, entry: schema.Figure) -> Figure:
    return Figure(
        part=document.part_of(entry.part),
        cell=CellName(technique=entry.technique, workload=entry.workload, concurrency=entry.concurrency),
        metric=entry.metric, value=entry.value, unit=entry.unit, low=entry.low, high=entry.high,
        of=entry.of, note=entry.note,
    )  # fmt: skip


def _claims(document: schema.Document, entry: schema.Claim, figures: tuple[Figure, ...]) -> Iterator[Claim]:
    part = document.part_of(entry.part)
    for workload in entry.workload:
        for level in entry.concurrency:
            this = _cell(entry.this, workload, level)
            that = None if entry.that is None else _cell(entry.that, workload, level)
            published = (
                entry.ratio if entry.ratio is not None else published_ratio(figures, part, entry.metric, this, that)
            )
            yield Claim(
                says=entry.says, part=part, metric=entry.metric, kind=entry.kind, this=this, that=that,
                basis=entry.basis, ratio=published,
            )  # fmt: skip


def _cell(cell: schema.Cell, workload: str, level: int) -> CellName:
    return CellName(
        technique=cell.technique,
        workload=workload if cell.workload is None else cell.workload,
        concurrency=level if cell.concurrency is None else cell.concurrency,
    )


def published_ratio(
    figures: Iterable[Figure], part: str, metric: Metric, this: CellName, that: CellName | None
) -> float | None:
    """Return the published ``this`` ÷ ``that``; None unless both have a figure for the whole stack in one unit."""
    known = {
        figure.cell: figure
        for figure in figures
        if figure.part == part and figure.metric is metric and not figure.of
    }
    first, second = known.get(this), known.get(that) if that is not None else None
    if first is None or second is None or first.unit != second.unit:
        return None
    return first.value / second.value


def _table(document: schema.Document, entry: schema.Table) -> Table:
    return Table(
        title=entry.title,
        part=document.part_of(entry.part),
        metric=entry.metric,
        rows=tuple(Row(title=row.title, technique=row.technique, workload=row.workload) for row in entry.rows),
        levels=tuple(entry.concurrency),
    )
