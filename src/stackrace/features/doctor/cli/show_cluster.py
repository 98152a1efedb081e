"""How ``stackrace doctor --cluster`` shows what it found.

``features/doctor/schema/doctor-cluster-1.schema.json`` is the contract of its JSON.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ....base.numbers import things
from ....race.preparation.places import Machine, Machines
from ....report.terminal import make_console
from ..examination import Examination
from .show import advice_document, print_found

__all__ = ["document", "is_forbidden", "print_cluster"]


def is_forbidden(found: Machines[Examination]) -> bool:
    """Tell whether something must be done before a race may start."""
    return bool(found.conflicts) or any(
        examination is not None and examination.forbidden for _, examination in found.examined
    )


def document(found: Machines[Examination]) -> dict[str, object]:
    """Return what ``--json`` prints."""
    return {
        "schema": "doctor-cluster-1",
        "forbidden": is_forbidden(found),
        "faults": list(found.conflicts),
        "machines": [_machine(machine, examination) for machine, examination in found.examined],
    }


def _machine(machine: Machine, examination: Examination | None) -> dict[str, object]:
    return {
        "name": machine.name,
        "roles": list(machine.roles),
        "forbidden": None if examination is None else examination.forbidden,
        "advice": None if examination is None else [advice_document(advice) for advice in examination.advice],
    }


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
