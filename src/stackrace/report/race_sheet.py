"""Report of a race: the answer first, then why, the standing, and what went wrong; in full, and on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..race.judge.notices import details, headline, news, shortly
from ..race.results.race import Race
from ..race.results.standing import Standing
from .growth import memory_sections
from .level_table import level_table
from .paths import short_names, shortened
from .repeat import COMMAND, race_file
from .scaling_words import scaling_sections
from .sheet import Block, Item, Listing, Medium, Notes, Paragraph, Section, Source, Tone
from .troubles import causes, complaints, refused, setbacks
from .words import race_words
from .words.answer_sentence import answer
from .words.race_words import debug, left_out, raced
from .words.standing_sentences import StandingWords, costs, elsewhere, machines, words_of

_SCREEN = (Medium.SCREEN,)
_TEXT = (Medium.TEXT,)
_BOTH = (Medium.SCREEN, Medium.TEXT)


def race_sheet(race: Race, standing: Standing) -> Iterator[Section]:
    """Yield the report's sections in order."""
    void = not standing.verdict.valid
    words = words_of(race, standing)
    yield Section(title="", blocks=tuple(_answer(race, standing, words)))
    if words.conditions:
        items = tuple(Item(text=text) for text in words.conditions)
        yield Section(
            title="", blocks=(Paragraph(text=race_words.CONDITIONS, tone=Tone.STRONG), Listing(items=items))
        )
    others = (level for level in standing.levels if level not in standing.foremost)
    for level in (*standing.foremost, *others):
        table = level_table(level, void=void, current=race.current)
        yield Section(title=race_words.heading(level), blocks=(table,), media=_BOTH)
    yield from scaling_sections(standing)
    yield from memory_sections(race, standing)
    if troubles := tuple(_troubles(race, standing)):
        yield Section(title="Refused, failed or warned", blocks=troubles, media=_BOTH)
    notes = race_words.notes(race, standing)
    about = tuple(filter(None, [race_words.versions(race)]))
    yield Section(title="", blocks=(
        Notes(texts=(*about, *notes, f"Race {race.id}, seed {race.seed}."), media=_SCREEN),
        Notes(texts=(*about, *notes), media=_TEXT),
        Source(title=f"How to repeat race {race.id}", about=f"Stackrace {race.version}, seed {race.seed}",
               command=COMMAND, text=race_file(race)),
    ))  # fmt: skip


def _answer(race: Race, standing: Standing, words: StandingWords) -> Iterator[Paragraph]:
    if words.failing:
        yield Paragraph(text=words.failing, tone=Tone.ALARM)
    if standing.verdict.valid:
        yield Paragraph(text=words.answer, tone=Tone.STRONG)
    else:
        yield Paragraph(text=words.answer, tone=Tone.ALARM)
        yield Paragraph(text=race_words.VOID, tone=Tone.WRONG)
    if debugging := debug(race):
        yield Paragraph(text=debugging, tone=Tone.DOUBTFUL)
    yield Paragraph(text=f"{raced(race)} {race_words.ending(race, standing)}")
    if words.current:
        yield Paragraph(text=words.current, tone=Tone.STRONG)
    texts = (*details(race), left_out(race), words.leads, words.reason, words.costs, words.machines)
    yield from (Paragraph(text=text) for text in texts if text)


def _troubles(race: Race, standing: Standing) -> Iterator[Block]:
    if out := refused(race):
        yield Paragraph(text=out)
    failed = (each.item for each in setbacks(race, standing))
    if items := (*failed, *(each.item for each in complaints(race, standing))):
        yield Listing(items=items)


_MOST_CAUSES = 3
_PATH = 44
"""Width to which a path may be folded on one screen; columns are left out before it gets narrower."""


def brief_sheet(race: Race, standing: Standing) -> Iterator[Section]:
    """Yield the sections: the answer with its details, the standing, its costs, and rejected measurements."""
    yield Section(title="", blocks=tuple(_top(race, standing)))
    if standing.levels:
        level = standing.levels[standing.headline]
        void = not standing.verdict.valid
        table = level_table(level, void=void, current=race.current, mark="yours", fold_to=_PATH)
        yield Section(title=race_words.heading(level), blocks=(table,))
    if rest := tuple(_rest(race, standing)):
        yield Section(title="", blocks=rest)
    if found := causes(race, standing, short_names(race)):
        listing = Listing(items=tuple(_first(found, alone=not standing.levels)))
        yield Section(title="", blocks=(listing, *_more(len(found) - _MOST_CAUSES)))


def _top(race: Race, standing: Standing) -> Iterator[Paragraph]:
    valid = standing.verdict.valid
    if first := news(standing.current):
        yield Paragraph(text=first, tone=Tone.ALARM, lines=2)
    usual = 1 if first or race.altered else 2
    text = answer(race, standing)
    if valid:
        yield Paragraph(text=shortened(text, race), tone=Tone.STRONG, lines=2)
    else:
        yield Paragraph(text=text, tone=Tone.ALARM, lines=2)
        yield Paragraph(text=race_words.VOID, tone=Tone.WRONG, lines=1)
    if race.altered:
        yield Paragraph(text=race.altered, tone=Tone.ALARM, lines=2)
    if debugging := debug(race):
        yield Paragraph(text=debugging, tone=Tone.DOUBTFUL, lines=1)
    yield Paragraph(text=raced(race), lines=1 if race.altered else 2)
    if valid and (yours := headline(standing.current)):
        yield Paragraph(text=shortened(yours, race, yours=False), tone=Tone.STRONG, lines=usual)
    if read := shortly(race):
        yield Paragraph(text=read, lines=usual)


def _rest(race: Race, standing: Standing) -> Iterator[Paragraph]:
    valid, compared = standing.verdict.valid, machines(standing.machines)
    # what is wrong needs the room; the table has costs, too
    is_full = news(standing.current) or race.altered or debug(race)
    if valid and (others := elsewhere(standing, race)):
        yield Paragraph(text=shortened(others, race), lines=1 if compared or is_full else 2)
    if versions := race_words.versions(race, short=True):
        yield Paragraph(text=versions, lines=3)
    if valid and not is_full and (needs := costs(standing.costs, short=True)):
        yield Paragraph(text=shortened(needs, race), lines=1)
    if valid and compared:
        yield Paragraph(text=compared, lines=1)


def _first(found: Sequence[Item], *, alone: bool) -> Iterator[Item]:
    for index, item in enumerate(found[:_MOST_CAUSES]):
        yield replace(item, lines=3 if alone else 1, log=item.log if alone and not index else "")


def _more(number: int) -> Iterator[Paragraph]:
    if number > 0:
        yield Paragraph(text=f"and {number} more: --details", tone=Tone.ASIDE, lines=1)
