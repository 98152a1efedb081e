"""Findings and changes of ``stackrace doctor``, on this machine or on those of a cluster, as kinds of results."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ...base.codec import Form, readable, schema_text
from ...base.numbers import duration, percent, things
from ...race.preparation.prepared import ClusterMachine, ExaminedMachines
from ...report.exporter import Kind
from ...report.sheet import Paragraph, Section, Tone
from .advice import Advice, Change, Gain, command_of
from .all_advice import Examination
from .kernel import Outcome, Record, State

_TONES = {Gain.DECISIVE: Tone.WRONG, Gain.GREAT: Tone.DOUBTFUL, Gain.SOME: Tone.OTHER, Gain.LITTLE: Tone.STRONG}
_MARKS = {State.DONE: "✓", State.ALREADY: "·"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Findings on this machine and changes to it."""

    examination: Examination | None
    """Findings; None if changes were only undone."""
    outcomes: tuple[Outcome, ...] | None
    """Results of the changes; None if none were requested."""
    record: Record

    @property
    def forbids(self) -> bool:
        """True if something must be done before a race may start, or a change failed."""
        forbidden = self.examination is not None and self.examination.forbidden
        return forbidden or not all(outcome.settled for outcome in self.outcomes or ())


def _document(visit: Visit) -> dict[str, object]:
    """Return the document for ``--json``; ``advice`` is null after ``--undo``, which examines nothing."""
    found = visit.examination
    return {
        "forbidden": found.forbidden if found else False,
        "advice": [readable(each, _FORM) for each in found.advice] if found else None,
        "outcomes": [readable(outcome, _FORM) for outcome in visit.outcomes or ()],
        "undo": str(visit.record.path) if visit.record.path.exists() else None,
    }


def _sections(visit: Visit) -> Iterator[Section]:
    blocks: list[Paragraph] = []
    if visit.examination is not None:
        yield from _examination_sections(visit.examination)
        blocks += _verdict(visit.examination)
    if visit.outcomes is None:
        blocks += _possible(visit)
    else:
        blocks += (Paragraph(text=text, whole=True) for text in _done(visit, visit.outcomes))
    yield Section(title="", blocks=tuple(blocks))


def _examination_sections(examination: Examination, *heading: Paragraph) -> Iterator[Section]:
    surroundings = examination.surroundings
    host, watched_s = surroundings.host, surroundings.watched.elapsed_s
    virtual = f", a {host.virtual}" if host.virtual else ""
    seen = f"Watched for {duration(watched_s)}: {percent(surroundings.foreign_share)} busy without us."
    machine = f"{host.system}, Linux {host.kernel}, {host.cores} × {host.cpu}{virtual}. {seen}"
    yield Section(title="", blocks=(*heading, Paragraph(text=machine)))
    for number, advice in enumerate(examination.advice, 1):
        yield Section(title="", blocks=tuple(_advice(number, advice)))


def _advice(number: int, advice: Advice) -> Iterator[Paragraph]:
    how = "safe: --apply does it" if advice.changes else "left to you"
    heading = f"{number}. {advice.check}  gain: {advice.gain}, {how}"
    yield Paragraph(text=heading, tone=_TONES[advice.gain], whole=True)
    seen = advice.seen[:1].upper() + advice.seen[1:]
    yield Paragraph(text=f"{seen} (wanted: {advice.threshold}).", indent=3)
    yield Paragraph(text=f"Why: {advice.why}.", indent=3)
    yield Paragraph(text=f"What to do: {advice.remedy}.", indent=3)
    if advice.command:
        yield Paragraph(text=f"$ {advice.command}", indent=3, whole=True)
    if advice.changes:
        changes = "; ".join(f"{change.key}: {change.before} → {change.after}" for change in advice.changes)
        yield Paragraph(text=f"Change: {changes}.", indent=3)


def _verdict(examination: Examination) -> Iterator[Paragraph]:
    if not examination.advice:
        yield Paragraph(text="Nothing to change: this machine is as quiet as it gets.")
    if examination.forbidden:
        yield Paragraph(text="No race should start before what is decisive is done.", tone=Tone.WRONG)


def _possible(visit: Visit) -> Iterator[Paragraph]:
    if visit.examination is not None and (changes := visit.examination.changes):
        keys = ", ".join(change.key for change in changes)
        makes = f"--apply makes {things(len(changes), 'change')} of these, and --undo takes them back"
        yield Paragraph(text=f"{makes}: {keys}")
    if visit.record.path.exists():
        undo = f"Earlier changes ({visit.record.path}) are not undone yet: stackrace doctor --undo"
        yield Paragraph(text=undo, whole=True)


def _done(visit: Visit, outcomes: Sequence[Outcome]) -> Iterator[str]:
    undoing, path = visit.examination is None, visit.record.path
    if not outcomes:
        nothing = f"Nothing to undo: there is no {path}. What was applied with sudo is undone with sudo."
        yield nothing if undoing else "Nothing to apply: every safe setting is as it should be."
        return
    for outcome in outcomes:
        yield f"{_MARKS.get(outcome.state, '✗')} {_outcome(outcome)}"
    if undoing and (foreign := [outcome.change for outcome in outcomes if outcome.state is State.FOREIGN]):
        yield f"To have the former values all the same: {command_of(foreign)}"
    if any(outcome.state is State.REFUSED for outcome in outcomes):
        verb = "--undo" if undoing else "--apply"
        yield f"With the rights of root: sudo {shlex.quote(sys.argv[0])} doctor {verb}"
    if path.exists():
        yield f"Former values are kept in {path} until stackrace doctor --undo."


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


VISIT = Kind(sections=_sections, document=_document)
"""Results on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDocument:
    """One machine."""

    name: str
    """Name of its worker."""
    roles: tuple[str, ...]
    """Roles: ``stack``, ``engine``, ``service``."""
    forbidden: bool | None
    """True if something must be done on it before a race may start; null if it was not examined."""
    advice: tuple[Advice, ...] | None
    """Advice on it, the most useful first; null if it was not examined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDocument:
    """Findings on the machines of a cluster, as `stackrace doctor --cluster --json` prints them."""

    schema: Literal["doctor-cluster-1"] = "doctor-cluster-1"
    """Name and version of this format."""
    forbidden: bool
    """True if something must be done before a race may start: a fault, or a machine's decisive advice."""
    faults: tuple[str, ...]
    """Problems of the machines together, each with the remedy."""
    machines: tuple[MachineDocument, ...]
    """Every machine that joined with a role and has a stackrace, by name."""


_FORM = Form(
    record=ClusterDocument,
    name="doctor-cluster-1",
    names={Change: {"before": "from", "after": "to"}},
)

schema = partial(schema_text, _FORM)


def is_forbidden(examined: ExaminedMachines[Examination]) -> bool:
    """Return True if something must be done before a race may start."""
    return bool(examined.conflicts) or any(
        examination is not None and examination.forbidden for _, examination in examined.examined
    )


def _cluster_document(examined: ExaminedMachines[Examination]) -> dict[str, Any]:
    machines = tuple(_machine(machine, examination) for machine, examination in examined.examined)
    return readable(
        ClusterDocument(forbidden=is_forbidden(examined), faults=examined.conflicts, machines=machines), _FORM
    )


def _machine(machine: ClusterMachine, examination: Examination | None) -> MachineDocument:
    return MachineDocument(
        name=machine.name,
        roles=machine.roles,
        forbidden=None if examination is None else examination.forbidden,
        advice=None if examination is None else examination.advice,
    )


def _cluster_sections(examined: ExaminedMachines[Examination]) -> Iterator[Section]:
    for machine, examination in examined.examined:
        yield from _member(machine, examination)
    ends = tuple(Paragraph(text=f"✗ {conflict}", whole=True) for conflict in examined.conflicts)
    if is_forbidden(examined):
        verdict = Paragraph(text="No race should start on this cluster before these are done.", tone=Tone.WRONG)
    else:
        verdict = Paragraph(text="These machines fit together: a race may start.")
    yield Section(title="", blocks=(*ends, verdict))


def _member(machine: ClusterMachine, examination: Examination | None) -> Iterator[Section]:
    name = Paragraph(text=f"{machine.name} ({', '.join(machine.roles)}, {machine.host})", tone=Tone.STRONG)
    if examination is None:
        yield Section(title="", blocks=(name, Paragraph(text="Not examined; see the end.")))
        return
    yield from _examination_sections(examination, name)
    blocks = list(_verdict(examination))
    if examination.changes:
        made = f"makes {things(len(examination.changes), 'change')} of these."
        text = f"On {machine.name}, `sudo stackrace doctor --apply` {made}"
        blocks.append(Paragraph(text=text, whole=True))
    yield Section(title="", blocks=tuple(blocks))


CLUSTER = Kind(sections=_cluster_sections, document=_cluster_document)
"""Results on the machines of a cluster."""
