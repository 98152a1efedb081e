"""How ``stackrace doctor --cluster`` shows what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

from ...base.codec import readable
from ...base.numbers import things
from ...race.preparation.prepared import Machine, Machines
from ...report.terminal import make_console
from .examination import Examination
from .show import FORM, AdviceDocument, advice_document, print_found

__all__ = ["document", "is_forbidden", "print_cluster", "schema"]


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
    """Return the JSON Schema of ``document``."""
    from ...base.json_schema import json_schema

    return json_schema(ClusterDocument, FORM, "doctor-cluster-1")


def document(found: Machines[Examination]) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    machines = tuple(_machine(machine, examination) for machine, examination in found.examined)
    return readable(ClusterDocument(forbidden=is_forbidden(found), faults=found.conflicts, machines=machines), FORM)


def _machine(machine: Machine, examination: Examination | None) -> MachineDocument:
    return MachineDocument(
        name=machine.name,
        roles=machine.roles,
        forbidden=None if examination is None else examination.forbidden,
        advice=None if examination is None else tuple(map(advice_document, examination.advice)),
    )


def print_cluster(found: Machines[Examination]) -> None:
    """Print each machine with its advice, and at the end what is wrong with them together."""
    console = make_console()
    for machine, examination in found.examined:
        _print_machine(console, machine, examination)
        console.print()
    for conflict in found.conflicts:
        console.print(Text(f"✗ {conflict}"), soft_wrap=True)
    if is_forbidden(found):
        console.print("No race should start on this cluster before these are done.", style="red")
    else:
        console.print("These machines fit together: a race may start.")


def _print_machine(console: Console, machine: Machine, examination: Examination | None) -> None:
    console.print(Text(machine.name, style="bold").append(f" ({', '.join(machine.roles)}, {machine.host})"))
    if examination is None:
        console.print("Not examined; see the end.")
        return
    print_found(console, examination)
    if examination.changes:
        console.print(
            Text(
                f"On {machine.name}, `sudo stackrace doctor --apply` makes "
                f"{things(len(examination.changes), 'change')} of these."
            ),
            soft_wrap=True,
        )
