"""What an export is: one format, one module of that name with ``export`` in it."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import Self

from ..base.codec import pretty
from ..race.results.race import Race
from ..race.results.standing import Standing
from .kinds import Kind, kind_of

__all__ = ["Format", "render", "told"]


class Format(StrEnum):
    """The formats a result can be written in; the value is the file's suffix without its dot."""

    about: str
    """What it is, to be printed after "Print"."""

    def __new__(cls, suffix: str, about: str = "") -> Self:
        form = str.__new__(cls, suffix)
        form._value_ = suffix
        form.about = about
        return form

    HTML = "html", "the self-contained HTML report"
    JSON = "json", "the JSON document (schema: --schema)"
    CSV = "csv", "CSV, a line for each slice"
    MARKDOWN = "md", "Markdown, for a pull request"


def render(race: Race, standing: Standing, form: Format | str) -> str:
    """Return the report of ``race`` in one format: ``html``, ``json``, ``csv`` or ``md`` (Markdown).

    That of a race with a kind of result of its own is that, but for CSV, which has the slices. Only then its
    libraries are imported. Raises ValueError for any other.
    """
    form = Format(form)
    kind = None if form is Format.CSV else kind_of(race)
    if kind is None:
        text: str = import_module(f".{form.name.lower()}", __package__).export(race, standing)
        return text
    return told(kind, race, form)


def told(kind: Kind, race: Race, form: Format) -> str:
    """Return a result of ``kind`` in any format but CSV."""
    if form is Format.HTML:
        return kind.page(race)
    if form is Format.JSON:
        return pretty(kind.document(race))
    from .markdown import drawn

    heading = kind.heading(race)
    return (f"{heading}\n\n" if heading else "") + drawn(kind.sections(race), heading="####")
