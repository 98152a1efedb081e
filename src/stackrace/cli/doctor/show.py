"""How ``stackrace doctor`` shows what it found and what it did."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Sequence

import click
from rich.console import Console
from rich.text import Text

from ...doctor import Advice, Change, Examination, Gain, Outcome, Record, State, command_of
from ...model.numbers import duration, percent
from ...report.words.findings import remedy, seen, threshold, title

__all__ = ["document", "print_document", "print_examination", "print_outcomes"]

_GAINS = {Gain.DECISIVE: "decisive", Gain.GREAT: "great", Gain.SOME: "some", Gain.LITTLE: "little"}
_STYLES = {Gain.DECISIVE: "red", Gain.GREAT: "yellow", Gain.SOME: "cyan", Gain.LITTLE: "dim"}
_MARKS = {State.DONE: "✓", State.ALREADY: "·"}


def document(found: Examination | None, outcomes: Sequence[Outcome], record: Record) -> dict[str, object]:
    """Return what ``--json`` prints; ``advice`` is null after ``--undo``, which examines nothing."""
    return {
        "forbidden": found.forbidden if found else False,
        "advice": [_advice(one) for one in found.advice] if found else None,
        "outcomes": [
            {"change": _change(one.change), "state": one.state, "now": one.now, "reason": one.reason}
            for one in outcomes
        ],
        "undo": str(record.path) if record.path.exists() else None,
    }


def _advice(one: Advice) -> dict[str, object]:
    return {
        "check": title(one.finding),
        "effect": one.finding.effect,
        "gain": _GAINS[one.gain],
        "seen": seen(one.finding),
        "threshold": threshold(one.finding),
        "why": one.why,
        "remedy": remedy(one.finding),
        "command": one.command,
        "applicable": bool(one.changes),
        "changes": [_change(change) for change in one.changes],
    }


def _change(change: Change) -> dict[str, str]:
    return {"key": change.key, "from": change.before, "to": change.after}


def print_document(content: dict[str, object]) -> None:
    """Print JSON on stdout."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))


def print_examination(found: Examination, record: Record, *, applying: bool) -> None:
    """Print the machine, the advice by number, and what can be done about it here."""
    console = Console(highlight=False)
    _print_machine(console, found)
    for number, one in enumerate(found.advice, 1):
        console.print()
        _print_advice(console, number, one)
    console.print()
    if not found.advice:
        console.print("Nothing to change: this machine is as quiet as it gets.")
    if found.forbidden:
        console.print("No race should start before what is decisive is done.", style="red")
    if found.changes and not applying:
        console.print(
            f"--apply makes {_number(len(found.changes), 'change')} of these, and --undo takes them back: "
            f"{', '.join(change.key for change in found.changes)}"
        )
    if record.path.exists() and not applying:
        console.print(
            f"Earlier changes ({record.path}) are not undone yet: stackrace doctor --undo", soft_wrap=True
        )


def _print_machine(console: Console, found: Examination) -> None:
    host, watched = found.seen.host, found.seen.watched
    console.print(
        f"{host.system}, Linux {host.kernel}, {host.cores} × {host.cpu}"
        + (f", a {host.virtual}" if host.virtual else "")
        + f". Watched for {duration(watched.elapsed_s)}: {percent(found.seen.foreign_share)} busy without us."
    )


def _print_advice(console: Console, number: int, one: Advice) -> None:
    heading = Text(f"{number}. ").append(title(one.finding), style="bold")
    heading.append(f"  gain: {_GAINS[one.gain]}", style=_STYLES[one.gain])
    heading.append(", safe: --apply does it" if one.changes else ", left to you")
    console.print(heading)
    lines = [
        f"{_capital(seen(one.finding))} (wanted: {threshold(one.finding)}).",
        f"Why: {one.why}.",
        f"What to do: {remedy(one.finding)}.",
    ]
    for line in lines:
        _print_indented(console, line)
    if one.command:
        # as it stands, so that it can be copied
        console.print(Text(f"   $ {one.command}"), soft_wrap=True)
    if one.changes:
        told = "; ".join(f"{change.key}: {change.before} → {change.after}" for change in one.changes)
        _print_indented(console, f"Change: {told}.")


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
    console = Console(highlight=False)
    if not outcomes:
        console.print(
            f"Nothing to undo: there is no {record.path}. What was applied with sudo is undone with sudo."
            if undoing
            else "Nothing to apply: every safe setting is as it should be.",
            soft_wrap=True,
        )
        return
    for one in outcomes:
        console.print(Text(f"{_MARKS.get(one.state, '✗')} {_outcome(one)}"), soft_wrap=True)
    if undoing and (foreign := [one.change for one in outcomes if one.state is State.FOREIGN]):
        console.print(f"To have the former values all the same: {command_of(foreign)}", soft_wrap=True)
    if any(one.state is State.REFUSED for one in outcomes):
        verb = "--undo" if undoing else "--apply"
        console.print(f"With the rights of root: sudo {shlex.quote(sys.argv[0])} doctor {verb}", soft_wrap=True)
    if record.path.exists():
        console.print(f"Former values are kept in {record.path} until stackrace doctor --undo.", soft_wrap=True)


def _outcome(one: Outcome) -> str:
    change = one.change
    match one.state:
        case State.DONE:
            return f"{change.key}: {change.before} → {change.after}"
        case State.ALREADY:
            return f"{change.key} is {change.after} already"
        case State.REFUSED:
            return f"{change.key} stays {one.now or 'as it is'}: {one.reason}"
        case State.FOREIGN:
            return f"{change.key} is {one.now} now, which another program set: left alone, not {change.after}"
        case State.ELSEWHERE:
            return f"{change.key} was changed in another network namespace: undo it there"


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
