"""Results of every kind in every format: one function for each format draws a kind's data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..base.codec import pretty
from ..extensions import ResultKind, declared, load
from .sheet import Section

if TYPE_CHECKING:
    from ..race.results.comparison import Comparison
    from ..race.results.race import Race
    from ..race.results.standing import Standing

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[_Result]):
    """Reports of one kind of result."""

    sections: Callable[[_Result], Iterable[Section]]
    """Function that returns the report's sections, in order."""
    document: Callable[[_Result], Any]
    """Function that returns the JSON document as plain values."""
    drawings: Callable[[_Result], dict[str, Any]] = lambda _: {}
    """Function that returns what the templates of a page's drawn sections need, by name."""
    first_line: Callable[[_Result], str] = lambda _: ""
    """Function that returns the first line of Markdown, escaped; empty for none."""
    headings: str = "####"
    """Marks before the titles of sections in Markdown."""
    compared: Callable[[_Result], Comparison | None] = lambda _: None
    """Function that returns the result for head against base; None if it compares no sides."""
    leading: Callable[[_Result], str] = lambda _: ""
    """Function that returns the state after the blocks of a running race, in one line; empty if unknown."""
    so_far: Callable[[_Result], Iterable[Section]] = lambda _: ()
    """Function that returns the sections that the page of a running race shows in place of a standing."""


class Format(StrEnum):
    """Formats for results; the value is the file's suffix without its dot."""

    HTML = "html"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "md"


def render(race: Race, standing: Standing | None, form: Format | str) -> str:
    """Return the report of ``race`` in one format: ``html``, ``json``, ``csv`` or ``md`` (Markdown).

    A race with a kind of result of its own gets that report, whatever the standing, except for CSV, which has the
    slices. Libraries of a format are imported only when needed. Raises ValueError for any other format.
    """
    form = Format(form)
    if form is Format.CSV:
        from .csv import export

        return export(race)
    kind, result = result_of(race, standing)
    return written(kind, result, form)


def result_of(race: Race, standing: Standing | None) -> tuple[Kind[Any], Any]:
    """Return the kind of result of ``race``, and the result to show: ``standing`` if it has no other."""
    kind = kind_of(race)
    return (STANDING, (race, standing)) if kind is None else (kind, race)


def written(kind: Kind[_Result], result: _Result, form: Format) -> str:
    """Return a result of ``kind`` in any format but CSV."""
    if form is Format.HTML:
        from .html.page import draw_page

        return draw_page(kind.sections(result), **kind.drawings(result))
    if form is Format.JSON:
        return pretty(kind.document(result))
    from .markdown import drawn

    first_line = kind.first_line(result)
    return (f"{first_line}\n\n" if first_line else "") + drawn(kind.sections(result), heading=kind.headings)


def kind_of(race: Race) -> Kind[Race] | None:
    """Return the kind of result of ``race``; None for a standing."""
    from ..race.results.parts import RacePart

    for kind in declared(ResultKind):
        if isinstance(race.parts.held.get(kind.part), RacePart):
            found: Kind[Race] = load(kind.import_path)
            return found
    return None


def _sections(result: tuple[Race, Standing]) -> Iterable[Section]:
    from .race_sheet import race_sheet

    return race_sheet(*result)


def _document(result: tuple[Race, Standing]) -> dict[str, Any]:
    from .document import document

    return document(*result)


def _drawings(result: tuple[Race, Standing]) -> dict[str, Any]:
    from .html.race_page import drawings

    return drawings(*result)


STANDING = Kind(sections=_sections, document=_document, drawings=_drawings)
"""Kind of result of a race with its standing."""
