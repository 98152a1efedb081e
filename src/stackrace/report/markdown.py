"""Export as Markdown, for pasting into a pull request."""

from __future__ import annotations

import re

from ..model.race import Race
from ..model.standing import Level, Row, Standing
from . import figures
from .complaints import complaints, refused
from .growth import growths
from .markdown_text import code as _code
from .markdown_text import escape as _escape
from .repeat import COMMAND, race_file
from .setbacks import setbacks
from .words import race_words, scaling, words_of

__all__ = ["MarkdownExporter"]

_HEADER = (
    "| tier | place | stack | requests/s | low–high | against the leader | p50 ms | p99 ms | longest ms "
    "| errors | CPU ms/request | memory MiB | launches |\n"
    "|--:|:-:|:--|--:|:-:|:--|--:|--:|--:|--:|--:|--:|--:|\n"
)


class MarkdownExporter:
    """Writes the answer, one table per load level, what went wrong, and how to repeat the race."""

    def export(self, race: Race, standing: Standing) -> str:
        """Return the document; foreign text is escaped."""
        headline = standing.levels[standing.headline : standing.headline + 1]
        others = [level for level in standing.levels if level not in headline]
        parts = [
            *_answer(race, standing),
            _escape(f"{race_words.about(race)}. {race_words.ending(race, standing)}"),
            *(_level(level) for level in (*headline, *others)),
            _scaling(standing),
            _memory(race, standing),
            _troubles(race, standing),
            "\n".join(f"- {_escape(note)}" for note in race_words.notes(race, standing)),
            _repeat(race),
        ]
        return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _answer(race: Race, standing: Standing) -> tuple[str, ...]:
    """Return the answer and what belongs to it; of a void race only that it is void."""
    words = words_of(race, standing)
    banner = f"**{_escape(words.answer)}**"
    if not standing.verdict.valid:
        return (f"> [!CAUTION]\n> {banner}", _escape(race_words.VOID))
    listed = "\n".join(f"- {_escape(one)}" for one in words.conditions)
    conditions = f"{race_words.CONDITIONS}:\n\n{listed}" if listed else ""
    return (
        banner, _escape(words.leads), _escape(words.reason), _escape(words.costs), conditions,
    )  # fmt: skip


def _level(level: Level) -> str:
    return f"#### {level.label}\n\n{_HEADER}" + "\n".join(_row(row) for row in level.rows)


def _row(row: Row) -> str:
    against = f"{figures.number(row.ratio.value)} {_in_brackets(figures.limits(row.ratio, figures.number))}"
    cells = (
        str(row.tier), figures.places(row.rank), _code(row.stack),
        figures.number(row.throughput_per_s.value), figures.limits(row.throughput_per_s, figures.number),
        against.strip(), figures.quantile(row.latency, "p50"), _p99(row),
        figures.quantile(row.latency, "max"), figures.count(row.errors),
        figures.number(sum(row.cpu_ms_per_request.values())),
        figures.mebibytes(sum(row.memory_bytes.values())), str(row.launches),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _p99(row: Row) -> str:
    return f"{figures.percentile(row, 'p99')} {_in_brackets(figures.percentile_limits(row, 'p99'))}".strip()


def _scaling(standing: Standing) -> str:
    curves = scaling.known(standing.scaling)
    if not curves:
        return ""
    head = f"| {' | '.join(scaling.HEADER)} |\n|:--|--:|--:|--:|--:|--:|\n"
    rows = [scaling.cells(curve) for curve in curves]
    lines = [f"| {_code(name)} | {' | '.join(rest)} |" for name, *rest in rows]
    notes = [_escape(text) for text in (scaling.WORDS, *scaling.unfits(curves))]
    return f"#### {scaling.TITLE}\n\n{head}" + "\n".join(lines) + "\n\n" + " ".join(notes)


def _memory(race: Race, standing: Standing) -> str:
    lines = [
        f"| {_code(one.stack)} | {figures.mebibytes(one.start_bytes)} | {figures.mebibytes(one.end_bytes)} "
        f"| {figures.mebibytes(one.peak_bytes)} | {figures.duration(one.span_s)} |"
        for one in growths(race, standing)
    ]
    if not lines:
        return ""
    where = _escape(standing.levels[standing.headline].where)
    head = "| stack | start MiB | end MiB | peak MiB | over |\n|:--|--:|--:|--:|--:|\n"
    return f"#### Memory over time {where}\n\n{head}" + "\n".join(lines)


def _troubles(race: Race, standing: Standing) -> str:
    failed = [
        f"- {_code(s.stack)} {_escape(s.sentence)}: {_escape(s.message)}"
        + (" *No place in the standing.*" if s.withdrawn else "")
        for s in setbacks(race, standing)
    ]
    complained = [
        f"- {_code(c.check)}: {c.headline}{f' on {_escape(c.where)}' if c.where else ''}: "
        + " → ".join(filter(None, (_escape(c.seen), _escape(c.remedy))))
        for c in complaints(race, standing)
    ]
    out = refused(race)
    lines = ([f"- {_escape(out)}"] if out else []) + failed + complained
    return "#### Refused, failed or warned\n\n" + "\n".join(lines) if lines else ""


def _repeat(race: Race) -> str:
    text = race_file(race)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return (
        f"<details><summary>How to repeat race {race.id}</summary>\n\n"
        f"Stackrace {_escape(race.version)}, seed {race.seed}: {_code(COMMAND)}\n\n"
        f"{fence}toml\n{text}{fence}\n\n</details>"
    )


def _in_brackets(text: str) -> str:
    return f"({text})" if text else ""
