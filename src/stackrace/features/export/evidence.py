"""EVIDENCE.md: the race behind an exported stack in its own words, and the proof of its files."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.numbers import count, duration, number, percent, things
from ...deploy.running_stack import change_facts
from ...race.results.race import Race
from ...race.results.standing import Row, Standing
from ...report.exporter import STANDING, Format, written
from ...report.figures import limited, times
from ...report.markdown import code, escape
from ...report.words.race_words import of
from ...report.words.standing_sentences import words_of
from .equivalence import Equivalence, Proof, Verdict
from .export import Export

_UNMEASURED = (
    "Nothing was measured: no race is known here that raced this stack with this app. The files are the "
    "catalogue's own, with the settings of the stack's path. `stackrace run` would say how good it is."
)
_NOT_PROVEN = (
    "Nobody has started these files yet. `stackrace export … --prove` starts them and races them against the "
    "original."
)
_DIFFERENCES = (
    "Folders, user, address and sockets are those of this deployment.",
    "Servers write logs for people: errors everywhere, and a line per request where nginx or Apache writes it in "
    "pieces. An access log that was raced stays.",
    "X-Forwarded-* is believed as README.md says. A race believes all.",
    "A stop waits up to 30 s for requests. A race has none left and waits 2 s.",
    "The module that binds the app counts no requests.",
)
"""Differences from the race; all settings of the path are as raced."""
_STARTED = (
    "The commands of the units were started as they are: with these files, at these paths in a private view of the "
    "file system, with the variables of .env.example and no others."
)


def evidence(export: Export, proof: Proof | None = None) -> str:
    """Return the text of EVIDENCE.md; without a race it says that nothing was measured."""
    race, standing = export.race, export.standing
    lines = [f"# Why {code(export.stack.path)}", ""]
    if race is None or standing is None:
        lines += [_UNMEASURED]
    else:
        lines += _answer(export.stack.path, race, standing)
    lines += ["", "## Whether these files do the same", ""]
    lines += [_NOT_PROVEN] if proof is None else [f"- {text}" for text in proof_lines(proof)]
    lines += ["", "## What differs from the race", ""]
    lines += [f"- {text}" for text in (*_DIFFERENCES, *map(escape, (_limits(export), *_changes(export))))]
    if export.notes:
        lines += ["", "## Notes", "", *(f"- {escape(note)}" for note in export.notes)]
    if race is not None and standing is not None:
        lines += ["", "## The race", "", written(STANDING, (race, standing), Format.MARKDOWN)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _answer(stack: str, race: Race, standing: Standing) -> Iterator[str]:
    yield f"**{escape(words_of(race, standing).answer)}**"
    yield ""
    rows = standing.levels[standing.headline].rows if standing.levels and standing.verdict.valid else ()
    if row := next((row for row in rows if row.stack == stack), None):
        yield f"- {escape(_rank_words(row, standing))}"
    said = f"Race {race.id}, begun {race.started_at} by Stackrace {race.version} on {race.host.system}."
    yield f"- {escape(said)}"
    versions = next((facts.versions for facts in race.facts if facts.stack == stack), {})
    if versions:
        listed = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
        yield f"- Measured versions: {escape(listed)}."


def _rank_words(row: Row, standing: Standing) -> str:
    level = standing.levels[standing.headline]
    first = level.rows[0]
    how = "the most of all" if first.stack == row.stack else f"{limited(row.ratio)} of {first.stack}"
    return f"{row.stack} delivered {number(row.throughput_per_s.value)} requests/s {level.where}, {how}."


def _limits(export: Export) -> str:
    front = export.front
    if front.site.file is not None:
        return f"{front.title} limits bodies and the time of an answer as your file does."
    bodies = any(entry.limits_bodies for entry in front.entries)
    answers = any(entry.limits_answers for entry in front.entries)
    if not (bodies or answers):
        return f"{front.title} limits neither bodies nor the time of an answer, as in a race."
    said = {"refuses bodies beyond 16 MiB": bodies, "gives up an answer that takes longer than 60 s": answers}
    does = " and ".join(what for what, is_so in said.items() if is_so)
    return f"{front.title} {does}. A race has no such limits.{'' if bodies else ' It takes bodies of any size.'}"


def _changes(export: Export) -> Iterator[str]:
    """Yield the changes to the user's configuration files, and the missing parts, a sentence each."""
    kept = export.front.site.kept_concerns
    for hop in export.stack.hops:
        for fact in (each for each in change_facts(hop) if each.concern not in kept):
            theirs = f"{fact.key} of your file for {fact.hop} ({fact.theirs})"
            yield f"{theirs} gave way: {fact.concern} is this deployment's."
    for hop in export.stack.hops:
        for gap in hop.file.reading.omissions if hop.file else ():
            yield f"{gap.what} of your file for {hop.server} is left out: {gap.why}."


def proof_lines(result: Proof) -> Iterator[str]:
    """Yield the steps of the proof, a sentence each."""
    if result.units_verified is None:
        yield "systemd-analyze is not installed here, so nothing verified the units."
    else:
        yield f"`systemd-analyze verify` accepts the {of(result.units_verified, 'unit')}."
    if result.checkers:
        yield f"The servers' own checkers accept their files: {', '.join(result.checkers)}."
    yield _STARTED
    yield (
        f"They answered {of(result.questions, 'question')} rightly, after {duration(result.ready_s)}, and ended by "
        "the units' own signals with nothing left."
    )
    if result.container_healthy:
        yield "The health checks of the front's unit and of the image passed, run as they are written."
    for one in result.reloads:
        lost = "none was lost" if not one.lost else f"{count(one.lost)} of them failed ({one.why})"
        lost += f"; {one.hop} {one.known}" if one.lost and one.known else ""
        were = "was" if one.asked == 1 else "were"
        yield f"{one.hop} was reloaded as its unit says while {things(one.asked, 'request')} {were} made: {lost}."
    if result.equivalence.verdict is None:
        return
    yield _equivalence(result.equivalence)
    if result.equivalence.blocks:
        yield (
            f"That took {of(result.equivalence.blocks, 'block')} at {result.equivalence.level}, the highest load: "
            "in each both were launched afresh and loaded in turn. Other loads were not compared."
        )


def _equivalence(result: Equivalence) -> str:
    if result.ratio is None or result.difference is None:
        return "Nothing could be compared: no block had a valid slice of both."
    delivers = f"the exported files deliver {times(result.ratio)} the throughput of the original"
    matters = percent(result.difference)
    match result.verdict:
        case Verdict.EQUIVALENT:
            return f"Proven: {delivers}, so they differ by less than {matters}."
        case Verdict.DIFFERENT:
            return f"Not equivalent: {delivers}, which differs by more than {matters}."
    if result.could_have_seen is None:
        return f"Not decided: {delivers}. Fewer than three blocks prove nothing; give more time with --budget."
    return (
        f"Not decided: {delivers}. This proves no more than a difference below {percent(result.could_have_seen)}, "
        f"and {matters} was asked for; give more time with --budget."
    )
