"""The page: templates, filters, and the sections in their order."""

from __future__ import annotations

from functools import cache, partial

from jinja2 import Environment

from ...base.text import printable, tail
from ...race.notices import details
from ...race.results.race import Race
from ...race.results.standing import Level, Standing
from .. import figures, repeat
from ..level_table import MARK, level_table
from ..race_sheet import scaling_sections
from ..sheet import Column, Medium, Tone, shown
from ..troubles import complaints, refused, setbacks
from ..words import race_words
from ..words.race_words import debug, left_out, raced
from ..words.standing import words_of
from . import marks
from .bars_view import cpu_view, latency_view, standing_view
from .facts_view import facts_view, host_view
from .memory_view import memory_view
from .multiples_view import multiples_views
from .templates import FOLDER, environment

__all__ = ["export"]

_LOG_LINES = 40


def export(race: Race, standing: Standing) -> str:
    """Return the whole page; all foreign text is escaped."""
    void = not standing.verdict.valid
    return _templates().get_template("page.html.j2").render(
        race=race, standing=standing, words=words_of(race, standing),
        sentence=partial(marks.sentence, stacks=race.stacks),
        style=(FOLDER / "style.css").read_text(encoding="utf-8"),
        debug=debug(race), raced=raced(race), ending=race_words.ending(race, standing), taken_over=details(race),
        left_out=left_out(race),
        void=void, void_words=race_words.VOID, heading=race_words.CONDITIONS,
        resolution=race_words.resolution(race, standing), notes=race_words.notes(race, standing),
        boards=[standing_view(level, void=void) for level in standing.foremost],
        latencies=[latency_view(level) for level in standing.foremost],
        costs=[view for level in standing.foremost if (view := cpu_view(level)) is not None],
        multiples=multiples_views(race, standing), memory=memory_view(race, standing),
        refused=refused(race), setbacks=setbacks(race, standing), complaints=complaints(race, standing),
        levels=[(level.label, _columns(level, race.current)) for level in standing.levels],
        mark=MARK,
        sections=shown(scaling_sections(standing), Medium.PAGE), on_page=Medium.PAGE,
        facts=facts_view(race), host=host_view(race),
        race_file=repeat.race_file(race), command=repeat.COMMAND,
    )  # fmt: skip


def _columns(level: Level, current: str) -> list[Column]:
    """Return the level's columns, the stacks first: they stay in view while the others are scrolled."""
    return sorted(level_table(level, current=current).on(Medium.PAGE), key=lambda column: not column.fold_to)


@cache
def _templates() -> Environment:
    templates = environment(FOLDER)
    templates.filters.update(
        printable=printable, log=lambda text: "\n".join(tail(text, _LOG_LINES)), number=figures.number,
        mib=figures.mebibytes, count=figures.count,
    )  # fmt: skip
    templates.globals.update(
        Tone=Tone, quantile=figures.quantile, percentile=figures.percentile,
        percentile_limits=figures.percentile_limits,
        rates=lambda interval: figures.limits(interval, figures.number),
    )  # fmt: skip
    return templates
