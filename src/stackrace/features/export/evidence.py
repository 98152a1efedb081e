"""EVIDENCE.md: the race behind an exported stack in its own words, and the proof of its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.numbers import duration, number, percent
from ...race.results.race import Race
from ...race.results.standing import Row, Standing
from ...report.exporter import STANDING, Format, written
from ...report.figures import limited, times
from ...report.markdown import code, escape
from ...report.words.race_words import of
from ...report.words.standing import words_of
from .equivalence import Equivalence, Proof, Verdict


def evidence(
    stack: str,
    *,
    race: Race | None,
    standing: Standing | None,
    limits: str = "",
    changes: Sequence[str] = (),
    proof: Proof | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return the document for ``stack``; without a ``race`` it says that nothing was measured.

    ``limits`` is what ``limits`` says of the front, ``changes`` are what had to be changed in configuration
    files of the user's, ``notes`` what else to know.
    """
    lines = [f"# Why {code(stack)}", ""]
    if race is None or standing is None:
        lines += [_UNMEASURED]
    else:
        lines += [*_answer(stack, race, standing)]
    lines += ["", "## Whether these files do the same", ""]
    lines += [_NOT_PROVEN] if proof is None else [f"- {text}" for text in proof_said(proof)]
    lines += ["", "## What differs from the race", ""]
    lines += [f"- {text}" for text in (*_DIFFERENCES, *([escape(limits)] if limits else []), *map(escape, changes))]
    if notes:
        lines += ["", "## Notes", "", *(f"- {escape(note)}" for note in notes)]
    if race is not None and standing is not None:
        lines += ["", "## The race", "", written(STANDING, (race, standing), Format.MARKDOWN)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _answer(stack: str, race: Race, standing: Standing) -> Iterator[str]:
    yield f"**{escape(words_of(race, standing).answer)}**"
    yield ""
    if (row := _row(stack, standing)) is not None and standing.verdict.valid:
        yield f"- {escape(_place(row, standing))}"
    yield f"- {escape(_measured(race))}"
    facts = next((facts for facts in race.facts if facts.stack == stack), None)
    if facts is not None and facts.versions:
        versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items() if version)
        yield f"- Measured versions: {escape(versions)}."


def _row(stack: str, standing: Standing) -> Row | None:
    if not standing.levels:
        return None
    rows = standing.levels[standing.headline].rows
    return next((row for row in rows if row.stack == stack), None)


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
"""What differs from the race; all settings of the path are as they were raced."""

_STARTED = (
    "The commands of the units were started as they are: with these files, at these paths in a private view of the "
    "file system, with the variables of .env.example and no others."
)


def limits(front: str, *, bodies: bool, answers: bool, own: bool) -> str:
    """Say which limits ``front``, the server that clients meet, has; ``own`` if the user's file sets them."""
    if own:
        return f"{front} limits bodies and the time of an answer as your file does."
    said = []
    if bodies:
        said.append("refuses bodies beyond 16 MiB")
    if answers:
        said.append("gives up an answer that takes longer than 60 s")
    if not said:
        return f"{front} limits neither bodies nor the time of an answer, as in a race."
    rest = "" if bodies else " It takes bodies of any size."
    return f"{front} {' and '.join(said)}. A race has no such limits.{rest}"


def _measured(race: Race) -> str:
    """Say which race it was."""
    return f"Race {race.id}, begun {race.started_at} by Stackrace {race.version} on {race.host.system}."


def _place(row: Row, standing: Standing) -> str:
    """Say what the stack delivered in the race, and how it stood."""
    level = standing.levels[standing.headline]
    first = level.rows[0]
    own = f"{row.stack} delivered {number(row.throughput_per_s.value)} requests/s {level.where}"
    if first.stack == row.stack:
        return f"{own}, the most of all."
    return f"{own}, {limited(row.ratio)} of {first.stack}."


def equivalence(result: Equivalence) -> str:
    """Say whether the exported files do as well as what was raced."""
    if result.ratio is None:
        return "Nothing could be compared: no block had a valid slice of both."
    delivers = f"the exported files deliver {times(result.ratio)} the throughput of the original"
    matters = percent(result.difference)
    match result.verdict:
        case Verdict.EQUIVALENT:
            return f"Proven: {delivers}, so they differ by less than {matters}."
        case Verdict.DIFFERENT:
            return f"Not equivalent: {delivers}, which differs by more than {matters}."
        case Verdict.OPEN:
            return f"Not decided: {delivers}. {_missing(result)}"


def _missing(result: Equivalence) -> str:
    if result.could_have_seen is None:
        return "One block proves nothing; give more time with --budget."
    return (
        f"This proves no more than a difference below {percent(result.could_have_seen)}, and "
        f"{percent(result.difference)} was asked for; give more time with --budget."
    )


def proof_said(result: Proof) -> Iterator[str]:
    """Yield what was done to prove the files, a sentence each."""
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
        lost = "none was lost" if not one.lost else f"{one.lost} of them failed (first: {one.why})"
        were = "was" if one.asked == 1 else "were"
        yield f"{one.hop} was reloaded as its unit says while {of(one.asked, 'request')} {were} made: {lost}."
    if result.equivalence is None:
        return
    yield equivalence(result.equivalence)
    if result.equivalence.blocks:
        yield (
            f"That took {of(result.equivalence.blocks, 'block')} at {result.equivalence.level}, the highest load: "
            "in each both were launched afresh and loaded in turn. Other loads were not compared."
        )
