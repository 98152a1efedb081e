"""What an export is: one format, one module of that name with ``export`` in it."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import Self

from ..features.regression.model import is_check
from ..features.tune.model import is_tuning
from ..race.results.race import Race
from ..race.results.standing import Standing

__all__ = ["Format", "render"]


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

    That of a check or of a tuning is its answer, but for CSV, which has the slices. Only then its libraries are
    imported. Raises ValueError for any other.
    """
    form = Format(form)
    if is_tuning(race) and form is not Format.CSV:
        from ..features.tune.report.export import rendered as tuning_in
        from ..features.tune.result import tuned

        return tuning_in(race, tuned(race), form.name.lower())
    if is_check(race) and form is not Format.CSV:
        from ..features.regression.answer import gate_answer
        from ..features.regression.report.export import rendered

        return rendered(race, gate_answer(race), form.name.lower())
    text: str = import_module(f".{form.name.lower()}", __package__).export(race, standing)
    return text
