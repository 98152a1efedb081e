"""Report of a race: one list of sections for all media. What has a priority stands on the first screen, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..race.judge.notices import details, news, shortly
from ..race.results.race import Race
from ..race.results.standing import Level, Standing
from .growth import memory_sections
from .level_table import level_table
from .paths import short_names, shortened, table_names
from .repeat import COMMAND, race_file
from .scaling_words import scaling_sections
from .sheet import ONLY_FIRST, Block, Item, Listing, Medium, Notes, Paragraph, Section, Source, Tone
from .troubles import causes, complaints, refused, setbacks
from .words import race_words
from .words.race_words import debug, left_out, raced
from .words.standing_sentences import StandingWords, costs, elsewhere, words_of

_PAGE = (Medium.PAGE,)
_TABLES = (Medium.SCREEN, Medium.TEXT)
"""Media with tables where a page has drawings."""

_ANSWER, _DOUBTS, _VERSIONS, _STANDING, _RACED, _CURRENT, _TROUBLES, _ELSEWHERE, _COSTS = range(1, 10)
"""Priorities on the first screen."""

_MOST_CAUSES = 3


def race_sheet(race: Race, standing: Standing) -> Iterator[Section]:
    """Yield the report's sections in order."""
    void = not standing.verdict.valid
    words = words_of(race, standing)
    yield Section(title="", blocks=tuple(_answer(race, standing, words)))
    yield Section(title="", drawn="standing.html.j2", media=_PAGE)
    if words.conditions:
        conditions = Listing(items=tuple(Item(text=text) for text in words.conditions))
        yield Section(title="What would change this answer", blocks=(conditions,))
    for drawing in ("latency", "multiples"):
        yield Section(title="", drawn=f"{drawing}.html.j2", media=_PAGE)
    others = (level for level in standing.levels if level not in standing.foremost)
    names = table_names(race.stacks)
    for index, level in enumerate((*standing.foremost, *others)):
        # the first is the headline
        first = 0 if index else _STANDING
        table = level_table(level, void=void, current=race.current, priority=first, names=names)
        meant = () if index else _long_names(names, level)
        yield Section(title=race_words.heading(level), blocks=(table, *meant), media=_TABLES)
    yield Section(title="", blocks=tuple(_below_the_table(race, standing, words)))
    yield from scaling_sections(standing)
    yield from memory_sections(race, standing)
    yield Section(title="", drawn="levels.html.j2", media=_PAGE)
    yield Section(title="Refused, failed or warned", blocks=tuple(_troubles(race, standing)))
    yield Section(title="", blocks=tuple(_causes(race, standing)))
    notes = tuple(filter(None, (race_words.versions(race), *race_words.notes(race, standing))))
    yield Section(title="", drawn="facts.html.j2", blocks=(
        Notes(texts=notes),
        Paragraph(text=f"Race {race.id}, seed {race.seed}.", tone=Tone.ASIDE, media=(Medium.SCREEN,)),
        Source(title=f"How to repeat race {race.id}", about=f"Stackrace {race.version}, seed {race.seed}",
               command=COMMAND, text=race_file(race)),
    ))  # fmt: skip


def _answer(race: Race, standing: Standing, words: StandingWords) -> Iterator[Paragraph]:
    if first := news(standing.current):
        yield Paragraph(text=first, tone=Tone.NEWS, priority=_ANSWER)
    if standing.verdict.valid:
        short = shortened(words.answer, race)
        yield Paragraph(text=words.answer, short=short, tone=Tone.STRONG, priority=_ANSWER)
    else:
        yield Paragraph(text=words.answer, tone=Tone.ALARM, priority=_ANSWER)
        yield Paragraph(text=race_words.VOID, tone=Tone.WRONG, priority=_ANSWER)
    if race.altered:
        yield Paragraph(text=race.altered, tone=Tone.ALARM, priority=_DOUBTS)
    if debugging := debug(race):
        yield Paragraph(text=debugging, tone=Tone.DOUBTFUL, priority=_DOUBTS)
    size, ending = raced(race), race_words.ending(race, standing)
    yield Paragraph(text=f"{size} {ending}", short=size, tone=Tone.CONTEXT, priority=_RACED)
    begun = f"Begun {race.started_at[:16].replace('T', ' ')} UTC."
    yield Paragraph(text=f"{begun} {race_words.resolution(race, standing)}", tone=Tone.CONTEXT, media=_PAGE)
    if words.current:
        short = shortened(words.current, race, yours=False)
        yield Paragraph(text=words.current, short=short, tone=Tone.STRONG, priority=_CURRENT)
    if read := shortly(race):
        yield Paragraph(text=read, priority=_CURRENT, media=ONLY_FIRST)
    yield from (Paragraph(text=text, tone=Tone.CONTEXT) for text in (*details(race), left_out(race)) if text)
    texts = (words.leads, words.reason, words.costs, words.machines)
    yield from (Paragraph(text=text) for text in texts if text)


def _long_names(names: Mapping[str, str], level: Level) -> Iterator[Paragraph]:
    """Yield the paths of stacks with short names in the table: a line each, and few lines on the first screen."""
    meant = [f"{names[row.stack]} is {row.stack}" for row in level.rows if row.stack in names]
    yield from (Paragraph(text=text, tone=Tone.ASIDE) for text in meant)
    if meant:
        yield Paragraph(text="; ".join(meant), tone=Tone.ASIDE, priority=_COSTS, media=ONLY_FIRST)


def _below_the_table(race: Race, standing: Standing, words: StandingWords) -> Iterator[Paragraph]:
    """Yield what the first screen says in short below the table; in the whole report it stands above, at length."""
    versions, valid = race_words.versions(race, short=True), standing.verdict.valid
    texts = (
        (shortened(elsewhere(standing, race), race) if valid else "", _ELSEWHERE),
        (versions, _VERSIONS),
        (shortened(costs(standing.costs, short=True), race) if valid else "", _COSTS),
        (shortened(words.machines, race), _COSTS),
    )
    yield from (Paragraph(text=text, priority=rank, media=ONLY_FIRST) for text, rank in texts if text)


def _troubles(race: Race, standing: Standing) -> Iterator[Block]:
    if out := refused(race):
        yield Paragraph(text=out)
    failed = (each.item for each in setbacks(race, standing))
    if items := (*failed, *(each.item for each in complaints(race, standing))):
        yield Listing(items=items)
    else:
        yield Paragraph(text="Nothing: every launch succeeded and no check complained.", media=_PAGE)


def _causes(race: Race, standing: Standing) -> Iterator[Block]:
    """Yield the gravest causes, each in short; the first has the end of its log if there is no standing."""
    found = causes(race, standing, short_names(race))
    for index, item in enumerate(found[:_MOST_CAUSES]):
        short = replace(item, log="" if index or standing.levels else item.log)
        yield Listing(items=(short,), priority=_TROUBLES, media=ONLY_FIRST)
    if (more := len(found) - _MOST_CAUSES) > 0:
        text = f"and {more} more: --details"
        yield Paragraph(text=text, tone=Tone.ASIDE, priority=_TROUBLES, media=ONLY_FIRST)
