"""Two stored races side by side: what they have in common, in one table for each level, and what differs."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.numbers import mebibytes, number
from ...race.results.race import Race
from ...race.results.standing import Level, Row, Standing
from ...report import figures
from ...report.exporter import kind_of
from ...report.merged_standing import standing_of
from ...report.sheet import Column, Notes, Paragraph, Section, Table, Tone
from ...report.words import race_words

_LIMITS = (
    "Two races do not show how much two days of a machine differ, so the ratios have no limits. To compare two "
    "versions of an app or a server in one race: stackrace check."
)


def compared(first: Race, second: Race) -> Iterator[Section]:
    """Yield the sections of the comparison of two races."""
    races = (first, second)
    standings = [standing_of(race) for race in races]
    yield Section(title="Two races side by side", blocks=(
        Paragraph(text=_LIMITS, tone=Tone.CONTEXT),
        *(Paragraph(text=f"Race {race.id}: {race_words.VOID}", tone=Tone.ALARM)
          for race, standing in zip(races, standings, strict=True) if not standing.verdict.valid),
    ))  # fmt: skip
    levels = list(_common(*standings)) if all(kind_of(race) is None for race in races) else []
    for before, after in levels:
        yield Section(title=f"Right answers per second {before.where}", blocks=(_table(races, before, after),))
    if not levels:
        text = "The races have no stack at the same level in common, or are no races of stacks."
        yield Section(title="Nothing to compare", blocks=(Paragraph(text=text),))
    yield Section(title="The races", blocks=(_facts(races),))
    alone = (_alone(race, other) for race, other in (races, races[::-1]))
    yield Section(title="", blocks=(Notes(texts=tuple(filter(None, alone))),))


def _common(before: Standing, after: Standing) -> Iterator[tuple[Level, Level]]:
    """Yield the levels that both have with a common stack, those of the first standing's order."""
    others = {level.label: level for level in after.levels}
    for level in before.levels:
        other = others.get(level.label)
        if other is not None and {row.stack for row in level.rows} & {row.stack for row in other.rows}:
            yield level, other


def _table(races: tuple[Race, Race], before: Level, after: Level) -> Table:
    others = {row.stack: row for row in after.rows}
    rows = [(row, others[row.stack]) for row in before.rows if row.stack in others]
    return Table(columns=(
        Column(title="stack", cells=tuple(row.stack for row, _ in rows), left=True, fold_to=30),
        _rates(races[0], [row for row, _ in rows]),
        _rates(races[1], [row for _, row in rows]),
        Column(title="second ÷ first", cells=tuple(_ratio(*pair) for pair in rows)),
        *(Column(title=f"p99 ms, {order}", cells=tuple(figures.percentile(pair[side], "p99") for pair in rows))
          for side, order in enumerate(("first", "second"))),
        *(Column(title=f"tier, {order}", cells=tuple(figures.tier(pair[side]) for pair in rows))
          for side, order in enumerate(("first", "second"))),
    ))  # fmt: skip


def _rates(race: Race, rows: list[Row]) -> Column:
    return Column(
        title=race.id,
        cells=tuple(number(row.throughput_per_s.value) for row in rows),
        notes=tuple(figures.limits(row.throughput_per_s, number) for row in rows),
    )


def _ratio(before: Row, after: Row) -> str:
    return number(after.throughput_per_s.value / before.throughput_per_s.value)


def _facts(races: tuple[Race, Race]) -> Table:
    """Return the moments of both races, and each other fact that differs."""
    known = [dict(_facts_of(race)) for race in races]
    names = [name for name in {**known[0], **known[1]} if known[0].get(name, "") != known[1].get(name, "")]
    return Table(columns=(
        Column(title="what differs", cells=tuple(names), left=True),
        *(Column(title=race.id, cells=tuple(facts.get(name, "") or "–" for name in names), left=True)
          for race, facts in zip(races, known, strict=True)),
    ))  # fmt: skip


def _facts_of(race: Race) -> Iterator[tuple[str, str]]:
    host = race.host
    yield "begun", race.started_at
    yield "app", race.app
    yield "commit", race.source.short if race.source else ""
    yield "pages", ", ".join(race.urls or race.workloads)
    yield "processor", f"{host.cpu}, {host.cores} cores"
    yield "memory", f"{mebibytes(host.memory_bytes)} MiB"
    yield "kernel", host.kernel
    yield "cores of a stack", str(len(race.cores.stack_cores))
    yield "Stackrace", race.version
    for facts in race.facts:
        yield from facts.versions.items()


def _alone(race: Race, other: Race) -> str:
    stacks = [stack for stack in race.stacks if stack not in other.stacks]
    return f"Only in race {race.id}: {figures.names(stacks)}." if stacks else ""
