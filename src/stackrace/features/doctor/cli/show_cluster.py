"""How ``stackrace doctor --cluster`` shows what it found.

``features/doctor/schema/doctor-cluster-1.schema.json`` is the contract of its JSON.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ....base.numbers import things
from ....report.terminal import make_console
from ...cluster.examining import ClusterExamination, Examined
from .show import advice_document, print_found

__all__ = ["document", "print_cluster"]


def document(found: ClusterExamination) -> dict[str, object]:
    """Return what ``--json`` prints."""
    return {
        "schema": "doctor-cluster-1",
        "forbidden": found.forbidden,
        "faults": list(found.faults),
        "machines": [_machine(machine) for machine in found.machines],
    }


def _machine(machine: Examined) -> dict[str, object]:
    examination = machine.examination
    return {
        "name": machine.member.name,
        "roles": sorted(machine.member.roles),
        "forbidden": None if examination is None else examination.forbidden,
        "advice": None if examination is None else [advice_document(advice) for advice in examination.advice],
    }


def print_cluster(found: ClusterExamination) -> None:
    """Print each machine with its advice, and at the end what is wrong with them together."""
    console = make_console()
    for machine in found.machines:
        _print_machine(console, machine)
        console.print()
    for fault in found.faults:
        console.print(Text(f"✗ {fault}"), soft_wrap=True)
    if found.forbidden:
        console.print("No race should start on this cluster before these are done.", style="red")
    else:
        console.print("These machines fit together: a race may start.")


def _print_machine(console: Console, machine: Examined) -> None:
    member, examination = machine.member, machine.examination
    console.print(Text(member.name, style="bold").append(f" ({', '.join(sorted(member.roles))}, {member.host})"))
    if examination is None:
        console.print("Not examined; see the end.")
        return
    print_found(console, examination)
    if examination.changes:
        console.print(
            Text(
                f"On {member.name}, `sudo stackrace doctor --apply` makes "
                f"{things(len(examination.changes), 'change')} of these."
            ),
            soft_wrap=True,
        )
