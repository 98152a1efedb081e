"""Draws a report as one self-contained HTML file: no network, no scripts; for paper, the dark and phones too.

Foreign text is escaped, with breaks where a reader would pause. An unknown name in a template is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, select_autoescape
from markupsafe import Markup, escape

from ...base.numbers import count, mebibytes, number
from ...base.text import one_line, printable, tail
from ..paths import split_settings
from ..sheet import Medium, Paragraph, Section, Table, Tone, shown
from .bars import differences

_HERE = Path(__file__).parent
_LOG_LINES = 40
_WARNING = (Tone.ALARM, Tone.WRONG, Tone.DOUBTFUL)


def draw_page(sections: Iterable[Section], *, stacks: Iterable[str] = (), **drawings: Any) -> str:
    """Return the page of a report, whose first section has the heading.

    A drawing that comes next stands directly below the heading and its warnings. Sentences format the paths of
    ``stacks``, by default all in its tables. ``drawings`` are the values of the templates that sections are drawn
    with.
    """
    first, *others = shown(sections, Medium.PAGE)
    texts = [block for block in first.blocks if isinstance(block, Paragraph)]
    news = [text for text in texts if text.tone is Tone.NEWS]
    heading, *texts = [Paragraph(text=first.title)] * bool(first.title) + texts[len(news) :]
    picture, others = (others[:1], others[1:]) if others and others[0].drawn else ([], others)
    warnings = [text for text in texts if not picture or text.tone in _WARNING]
    style = (_HERE / "style.css").read_text(encoding="utf-8")
    return _environment().get_template("page.html.j2").render(
        style=style, sentence=_sentences(others, stacks), news=news, heading=heading,
        warnings=warnings, picture=picture, texts=[text for text in texts if text not in warnings],
        sections=others, **drawings,
    )  # fmt: skip


def draw_part(template: str, **drawings: Any) -> str:
    """Return the sections that ``template`` draws, such as ``standing.html.j2``, without a page around them."""
    return _environment().get_template(template).render(**drawings)


def draw_sections(sections: Iterable[Section]) -> str:
    """Return ``sections`` without a page around them, as on the page of a running race."""
    drawn = shown(sections, Medium.PAGE)
    return draw_part("sections.html.j2", sections=drawn, sentence=_sentences(drawn))


def _sentences(sections: Iterable[Section], stacks: Iterable[str] = ()) -> Callable[[str], Markup]:
    """Return what draws a sentence with the paths of ``stacks``, by default all in the tables of ``sections``."""
    columns = [column for section in sections for block in section.blocks if isinstance(block, Table)
               for column in block.columns if column.fold_to]  # fmt: skip
    return partial(_sentence, stacks=tuple(stacks) or {stack for column in columns for stack in column.cells})


class _PrintableTemplate(Template):
    """Template that leaves no control character in the page, wherever foreign text stands."""

    def render(self, *args: Any, **values: Any) -> str:
        """Return the page."""
        return printable(super().render(*args, **values), words=False)


@cache
def _environment() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(_HERE), undefined=StrictUndefined,
        autoescape=select_autoescape(default=True, default_for_string=True),
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    templates.template_class = _PrintableTemplate
    templates.filters.update(
        breakable=_breakable, path=_path, line=one_line, printable=printable,
        log=lambda text: "\n".join(tail(text, _LOG_LINES)),
        number=number, mib=mebibytes, count=count, differences=differences,
    )  # fmt: skip
    templates.globals.update(Tone=Tone, on_page=Medium.PAGE, number=number)
    return templates


_PAUSE = re.compile(r"(?<=[/+,:])")


def _breakable(text: str) -> Markup:
    return _with_breaks(one_line(text))


def _path(stack: str) -> Markup:
    parts = (
        Markup('<span class="settings">{}</span>').format(_with_breaks(part))
        if settings
        else Markup("<b>{}</b>").format(_with_breaks(part))
        for part, settings in split_settings(stack)
    )
    return Markup('<span class="path">{}</span>').format(Markup("").join(parts))


def _sentence(text: str, stacks: Iterable[str]) -> Markup:
    named = sorted({one_line(stack) for stack in stacks} - {""}, key=len, reverse=True)
    if not named:
        return _breakable(text)
    known = re.compile("(" + "|".join(re.escape(stack) for stack in named) + ")")
    return Markup("").join(
        _path(part) if index % 2 else _with_breaks(part) for index, part in enumerate(known.split(one_line(text)))
    )


def _with_breaks(clean: str) -> Markup:
    return Markup("<wbr>").join(escape(piece) for piece in _PAUSE.split(clean) if piece)
