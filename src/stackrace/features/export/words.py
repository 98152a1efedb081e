"""What EVIDENCE.md says in an exported folder: why this stack, and how far that can be believed."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.numbers import duration, number, percent
from ...race.results.race import Race
from ...race.results.standing import Row, Standing
from ...report.figures import limited, times
from ...report.words.race_words import of
from .equivalence import Equivalence, Proof, Verdict

__all__ = ["DIFFERENCES", "NOT_PROVEN", "UNMEASURED", "equivalence", "limits", "measured", "place", "proof"]

UNMEASURED = (
    "Nothing was measured: no race is known here that raced this stack with this app. The files are the "
    "catalogue's own, with the settings of the stack's path. `stackrace run` would say how good it is."
)

NOT_PROVEN = (
    "Nobody has started these files yet. `stackrace export … --prove` starts them and races them against the "
    "original."
)

DIFFERENCES = (
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


def measured(race: Race) -> str:
    """Say which race it was."""
    return f"Race {race.id}, begun {race.started_at} by Stackrace {race.version} on {race.host.system}."


def place(row: Row, standing: Standing) -> str:
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


def proof(result: Proof) -> Iterator[str]:
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
