"""How ``stackrace doctor`` shows what it found and what it did, on this machine or on those of a cluster."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

from ...base.codec import Form, readable
from ...base.numbers import duration, percent, things
from ...base.verdict import Effect
from ...race.preparation.prepared import Machine, Machines
from ...report.terminal import make_console
from ...report.words.findings import remedy, seen, threshold, title
from .advice import Advice, Change, Gain, command_of
from .examination import Examination
from .kernel import Outcome, Record, State

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


_FORM = Form(names={Change: {"before": "from", "after": "to"}})
"""How the JSON documents write down what would be changed."""


def document(examination: Examination | None, outcomes: Sequence[Outcome], record: Record) -> dict[str, object]:
    """Return what ``--json`` prints; ``advice`` is null after ``--undo``, which examines nothing."""
    return {
        "forbidden": examination.forbidden if examination else False,
        "advice": [readable(_advice_document(each), _FORM) for each in examination.advice] if examination else None,
        "outcomes": [readable(outcome, _FORM) for outcome in outcomes],
        "undo": str(record.path) if record.path.exists() else None,
    }


def _advice_document(advice: Advice) -> AdviceDocument:
    """Return one piece of advice as ``--json`` has it."""
    return AdviceDocument(
        check=title(advice.finding),
        effect=advice.finding.effect,
        gain=advice.gain.name.lower(),
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
    _print_found(console, examination)
    if examination.changes and not applying:
        console.print(
            f"--apply makes {things(len(examination.changes), 'change')} of these, and --undo takes them back: "
            f"{', '.join(change.key for change in examination.changes)}"
        )
    if record.path.exists() and not applying:
        console.print(
            f"Earlier changes ({record.path}) are not undone yet: stackrace doctor --undo", soft_wrap=True
        )


def _print_found(console: Console, examination: Examination) -> None:
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
    heading.append(f"  gain: {advice.gain.name.lower()}", style=_STYLES[advice.gain])
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDocument:
    """One machine."""

    name: str
    """Its worker's name."""
    roles: tuple[str, ...]
    """What it is for: ``stack``, ``engine``, ``service``."""
    forbidden: bool | None
    """Whether something must be done on it before a race may start; null where it was not examined."""
    advice: tuple[AdviceDocument, ...] | None
    """What to change on it, the most useful first; null where it was not examined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDocument:
    """What was found on the machines of a cluster, as `stackrace doctor --cluster --json` prints it."""

    schema: Literal["doctor-cluster-1"] = "doctor-cluster-1"
    """Name and version of this format."""
    forbidden: bool
    """Whether something must be done before a race may start: a fault, or a machine's decisive advice."""
    faults: tuple[str, ...]
    """What is wrong with the machines together, each with the way out."""
    machines: tuple[MachineDocument, ...]
    """Every machine that joined for something and has a stackrace, by name."""


def is_forbidden(found: Machines[Examination]) -> bool:
    """Tell whether something must be done before a race may start."""
    return bool(found.conflicts) or any(
        examination is not None and examination.forbidden for _, examination in found.examined
    )


def schema() -> str:
    """Return the JSON Schema of ``cluster_document``."""
    from ...base.json_schema import json_schema

    return json_schema(ClusterDocument, _FORM, "doctor-cluster-1")


def cluster_document(found: Machines[Examination]) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    machines = tuple(_machine(machine, examination) for machine, examination in found.examined)
    return readable(
        ClusterDocument(forbidden=is_forbidden(found), faults=found.conflicts, machines=machines), _FORM
    )


def _machine(machine: Machine, examination: Examination | None) -> MachineDocument:
    return MachineDocument(
        name=machine.name,
        roles=machine.roles,
        forbidden=None if examination is None else examination.forbidden,
        advice=None if examination is None else tuple(map(_advice_document, examination.advice)),
    )


def print_cluster(found: Machines[Examination]) -> None:
    """Print each machine with its advice, and at the end what is wrong with them together."""
    console = make_console()
    for machine, examination in found.examined:
        _print_member(console, machine, examination)
        console.print()
    for conflict in found.conflicts:
        console.print(Text(f"✗ {conflict}"), soft_wrap=True)
    if is_forbidden(found):
        console.print("No race should start on this cluster before these are done.", style="red")
    else:
        console.print("These machines fit together: a race may start.")


def _print_member(console: Console, machine: Machine, examination: Examination | None) -> None:
    console.print(Text(machine.name, style="bold").append(f" ({', '.join(machine.roles)}, {machine.host})"))
    if examination is None:
        console.print("Not examined; see the end.")
        return
    _print_found(console, examination)
    if examination.changes:
        console.print(
            Text(
                f"On {machine.name}, `sudo stackrace doctor --apply` makes "
                f"{things(len(examination.changes), 'change')} of these."
            ),
            soft_wrap=True,
        )
