"""How ``stackrace doctor`` shows what it found and what it did."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from ...base.codec import Form, readable
from ...base.numbers import duration, percent, things
from ...base.verdict import Effect
from ...report.terminal import make_console
from ...report.words.findings import remedy, seen, threshold, title
from .advice import Advice, Change, Gain, command_of
from .examination import Examination
from .kernel import Outcome, Record, State

__all__ = [
    "FORM",
    "AdviceDocument",
    "advice_document",
    "document",
    "print_examination",
    "print_found",
    "print_outcomes",
]


_GAINS = {
    Gain.DECISIVE: "decisive",
    Gain.GREAT: "great",
    Gain.SOME: "some",
    Gain.LITTLE: "little",
}
_STYLES = {Gain.DECISIVE: "red", Gain.GREAT: "yellow", Gain.SOME: "cyan", Gain.LITTLE: "dim"}
_MARKS = {State.DONE: "✓", State.ALREADY: "·"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceDocument:
    """One thing to change."""

    check: str
    """The title of what was checked."""
    effect: Effect
    """What it does to a race: invalidates or warns."""
    gain: str
    """What following it is expected to bring: ``decisive``, ``great``, ``some`` or ``little``."""
    seen: str
    """What was seen."""
    threshold: str
    """What is wanted."""
    why: str
    """Why it matters."""
    remedy: str
    """What to do."""
    command: str
    """What to type on that machine; empty where no command helps."""
    applicable: bool
    """Whether `stackrace doctor --apply` on that machine does it."""
    changes: tuple[Change, ...]
    """The kernel settings that this would change."""


FORM = Form(names={Change: {"before": "from", "after": "to"}})
"""How the JSON documents write down what would be changed."""


def document(examination: Examination | None, outcomes: Sequence[Outcome], record: Record) -> dict[str, object]:
    """Return what ``--json`` prints; ``advice`` is null after ``--undo``, which examines nothing."""
    return {
        "forbidden": examination.forbidden if examination else False,
        "advice": [readable(advice_document(each), FORM) for each in examination.advice] if examination else None,
        "outcomes": [
            {
                "change": readable(outcome.change, FORM),
                "state": outcome.state,
                "now": outcome.now,
                "reason": outcome.reason,
            }
            for outcome in outcomes
        ],
        "undo": str(record.path) if record.path.exists() else None,
    }


def advice_document(advice: Advice) -> AdviceDocument:
    """Return one piece of advice as ``--json`` has it."""
    return AdviceDocument(
        check=title(advice.finding),
        effect=advice.finding.effect,
        gain=_GAINS[advice.gain],
        seen=seen(advice.finding),
        threshold=threshold(advice.finding),
        why=advice.why,
        remedy=remedy(advice.finding),
        command=advice.command,
        applicable=bool(advice.changes),
        changes=advice.changes,
    )


def print_examination(examination: Examination, record: Record, *, applying: bool) -> None:
    """Print what was found on this machine, and what can be done about it here."""
    console = make_console()
    print_found(console, examination)
    if examination.changes and not applying:
        console.print(
            f"--apply makes {things(len(examination.changes), 'change')} of these, and --undo takes them back: "
            f"{', '.join(change.key for change in examination.changes)}"
        )
    if record.path.exists() and not applying:
        console.print(
            f"Earlier changes ({record.path}) are not undone yet: stackrace doctor --undo", soft_wrap=True
        )


def print_found(console: Console, examination: Examination) -> None:
    """Print the machine, and the advice by number."""
    _print_machine(console, examination)
    for number, advice in enumerate(examination.advice, 1):
        console.print()
        _print_advice(console, number, advice)
    console.print()
    if not examination.advice:
        console.print("Nothing to change: this machine is as quiet as it gets.")
    if examination.forbidden:
        console.print("No race should start before what is decisive is done.", style="red")


def _print_machine(console: Console, examination: Examination) -> None:
    surroundings = examination.surroundings
    host, watched_s = surroundings.host, surroundings.watched.elapsed_s
    console.print(
        f"{host.system}, Linux {host.kernel}, {host.cores} × {host.cpu}"
        + (f", a {host.virtual}" if host.virtual else "")
        + f". Watched for {duration(watched_s)}: {percent(surroundings.foreign_share)} busy without us."
    )


def _print_advice(console: Console, number: int, advice: Advice) -> None:
    heading = Text(f"{number}. ").append(title(advice.finding), style="bold")
    heading.append(f"  gain: {_GAINS[advice.gain]}", style=_STYLES[advice.gain])
    heading.append(", safe: --apply does it" if advice.changes else ", left to you")
    console.print(heading)
    lines = [
        f"{_capital(seen(advice.finding))} (wanted: {threshold(advice.finding)}).",
        f"Why: {advice.why}.",
        f"What to do: {remedy(advice.finding)}.",
    ]
    for line in lines:
        _print_indented(console, line)
    if advice.command:
        # as it stands, so that it can be copied
        console.print(Text(f"   $ {advice.command}"), soft_wrap=True)
    if advice.changes:
        changes = "; ".join(f"{change.key}: {change.before} → {change.after}" for change in advice.changes)
        _print_indented(console, f"Change: {changes}.")


def _print_indented(console: Console, line: str) -> None:
    indent = " " * 3
    filled = textwrap.fill(
        line, console.width, initial_indent=indent, subsequent_indent=indent, break_long_words=False
    )
    console.print(Text(filled), soft_wrap=True)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def print_outcomes(outcomes: Sequence[Outcome], record: Record, *, undoing: bool) -> None:
    """Print what became of each change, and what remains to be done."""
    console = make_console()
    if not outcomes:
        console.print(
            f"Nothing to undo: there is no {record.path}. What was applied with sudo is undone with sudo."
            if undoing
            else "Nothing to apply: every safe setting is as it should be.",
            soft_wrap=True,
        )
        return
    for outcome in outcomes:
        console.print(Text(f"{_MARKS.get(outcome.state, '✗')} {_outcome(outcome)}"), soft_wrap=True)
    if undoing and (foreign := [outcome.change for outcome in outcomes if outcome.state is State.FOREIGN]):
        console.print(f"To have the former values all the same: {command_of(foreign)}", soft_wrap=True)
    if any(outcome.state is State.REFUSED for outcome in outcomes):
        verb = "--undo" if undoing else "--apply"
        console.print(f"With the rights of root: sudo {shlex.quote(sys.argv[0])} doctor {verb}", soft_wrap=True)
    if record.path.exists():
        console.print(f"Former values are kept in {record.path} until stackrace doctor --undo.", soft_wrap=True)


def _outcome(outcome: Outcome) -> str:
    change = outcome.change
    match outcome.state:
        case State.DONE:
            return f"{change.key}: {change.before} → {change.after}"
        case State.ALREADY:
            return f"{change.key} is {change.after} already"
        case State.REFUSED:
            return f"{change.key} stays {outcome.now or 'as it is'}: {outcome.reason}"
        case State.FOREIGN:
            return f"{change.key} is {outcome.now} now, which another program set: left alone, not {change.after}"
        case State.ELSEWHERE:
            return f"{change.key} was changed in another network namespace: undo it there"
