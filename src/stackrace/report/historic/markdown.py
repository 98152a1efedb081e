"""A rerun as Markdown: for ``docs/historic/NAME.md``, or to paste into a discussion."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from ...model.comparison import ClaimOutcome, Rerun, Ruling, TableOutcome
from .. import figures
from ..markdown_text import code, escape
from ..words import rerun as words

__all__ = ["MarkdownExporter"]

_CONCLUSIONS = (
    ("What holds today", Ruling.HOLDS),
    ("What is reversed today", Ruling.REVERSED),
    ("What does not hold today", Ruling.NOT_SO),
    ("What makes no difference that matters", Ruling.SAME),
    ("What cannot be told", Ruling.UNDECIDED),
    ("What was not measured", Ruling.NOT_MEASURED),
)


class MarkdownExporter:
    """Writes the publication, how it was run again, the claims, what follows, then and now, and what is gone."""

    def export(self, rerun: Rerun) -> str:
        """Return the document; foreign text is escaped."""
        comparison = rerun.comparison
        parts = [
            f"# {escape(words.title(comparison))}",
            f"**{words.headline(rerun)}**",
            escape(words.about(rerun)),
            _then(rerun),
            _now(rerun),
            _claims(rerun),
            f"{words.limits_note(rerun)} Ratios are the first named ÷ the second.",
            *(_conclusion(rerun, heading, ruling) for heading, ruling in _CONCLUSIONS),
            *(_table(rerun, one) for one in rerun.tables),
            _gone(rerun),
            _techniques(rerun),
        ]
        return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _then(rerun: Rerun) -> str:
    source = rerun.comparison.source
    told = [f"- Machine: {source.machine}", f"- Software: {source.software}", f"- Protocol: {source.protocol}"]
    told += [f"- Doubts: {source.doubts}"] if source.doubts else []
    told += [f"- Lost: {rerun.comparison.lost}"] if rerun.comparison.lost else []
    return "## Then\n\n" + "\n".join(escape(line) for line in told)


def _now(rerun: Rerun) -> str:
    lines = []
    for one in rerun.parts:
        lines.append(f"- {escape(words.part_sentence(rerun, one))}")
        deviations = rerun.comparison.part(one.part).deviations
        lines += [f"  - {escape(told)}" for told in (deviations, *one.left_out, *one.complaints) if told]
    lines += [f"- {escape(note)}" for note in rerun.notes]
    return f"## Now\n\nOn {rerun.made_at[:10]}, with `stackrace run historic/{_command(rerun)}`.\n\n" + "\n".join(
        lines
    )


def _command(rerun: Rerun) -> str:
    return rerun.comparison.name + (f" --{rerun.mode.value}" if rerun.mode.value == "quick" else "")


def _claims(rerun: Rerun) -> str:
    head = "| claim | of what | at | then | now (limits) | |\n|:--|:--|:--|--:|:--|:--|\n"
    return "## The claims\n\n" + head + "\n".join(_claim(one) for one in rerun.claims)


def _claim(one: ClaimOutcome) -> str:
    basis = words.basis(one.claim)
    remark = words.remark(one)
    cells = (
        escape(one.claim.says + (f" ({basis})" if basis else "")),
        escape(words.sides(one.claim)),
        escape(words.where(one.claim)),
        escape(words.then(one.claim)),
        escape(words.now(one)),
        f"**{one.ruling.value}**" + (f": {escape(remark)}" if remark else ""),
    )
    return f"| {' | '.join(cells)} |"


def _conclusion(rerun: Rerun, heading: str, ruling: Ruling) -> str:
    chosen = [one for one in rerun.claims if one.ruling is ruling]
    if not chosen:
        return ""
    lines = [
        f"- {escape(says)} ({escape(_where(of_one))})"
        for says, of_one in groupby(chosen, key=lambda one: one.claim.says)
    ]
    return f"## {heading}\n\n" + "\n".join(lines)


def _where(claims: Iterable[ClaimOutcome]) -> str:
    return "; ".join(words.where(one.claim) for one in claims)


def _table(rerun: Rerun, one: TableOutcome) -> str:
    part = rerun.comparison.part(one.table.part).title
    head = (
        f"| | {' | '.join(f'c={level}' for level in one.table.levels)} |\n|:--|{'--:|' * len(one.table.levels)}\n"
    )
    rows = []
    for row, then, now in zip(one.table.rows, one.then, one.now, strict=True):
        cells = (f"{_ratio(a)} → {_ratio(b)}" for a, b in zip(then, now, strict=True))
        rows.append(f"| {escape(row.title)} | {' | '.join(cells)} |")
    heading = f"## {escape(part)}: {escape(one.table.title)}"
    return f"{heading}\n\nAgainst the first row, then → now.\n\n{head}" + "\n".join(rows)


def _ratio(value: float | None) -> str:
    return figures.NOTHING if value is None else figures.number(value)


def _gone(rerun: Rerun) -> str:
    gone = [one for one in rerun.comparison.techniques.values() if one.gone]
    lines = [f"- **{escape(one.title)}**: {escape(one.gone)} Instead: {escape(one.instead)}" for one in gone]
    return "## Gone since\n\n" + "\n".join(lines) if lines else ""


def _techniques(rerun: Rerun) -> str:
    techniques = rerun.comparison.techniques.values()
    lines = [f"- {escape(one.key)}, {escape(one.title)}: {code(one.path)}" for one in techniques]
    return "## Raced as\n\n" + "\n".join(lines)
