"""``stackrace cluster``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

    from .members import Member


@click.command(
    epilog="""\b
Examples:
  stackrace cluster tcp://10.0.0.1:8786         who is there, and how far the clocks are apart
  stackrace cluster tls://10.0.0.1:8786         the same over TLS, as Dask's configuration has it
  stackrace cluster tcp://10.0.0.1:8786 --json | jq '.[] | select(.roles | index("engine")) | .name'"""
)
@click.argument("address", metavar="SCHEDULER")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array with an object for each machine.")
def command(address: str, as_json: bool) -> None:
    """Show the machines of a cluster: what each is for, what it is, and its clock and distance.

    SCHEDULER is the address of a Dask scheduler, as `dask scheduler` prints it. A machine joins with
    `dask worker SCHEDULER --resources "stack=1"`, or engine=1.
    """
    from ...cli.showing import print_document, print_parts
    from .connection import Connection

    with Connection(address) as connection:
        members = connection.members()
    if as_json:
        print_document([_document(member) for member in members])
    else:
        print_parts(_shown(members))


def _document(member: Member) -> dict[str, object]:
    """Return one machine as the JSON output has it."""
    return {**asdict(member), "roles": sorted(member.roles), "cores": list(member.cores)}


def _shown(members: Sequence[Member]) -> Sequence[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    from ...base.numbers import milliseconds
    from ...base.units import SIZE
    from ...measure.resources import format_cores

    if not members:
        return [Text("Nobody is there. A machine joins with: dask worker SCHEDULER --resources 'stack=1'")]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("machine", "is for", "address", "cores", "memory", "stackrace", "Python", "kernel"):
        table.add_column(heading)
    for heading in ("clock ahead", "round trip"):
        table.add_column(heading, justify="right")
    for member in members:
        clock = member.clock
        table.add_row(
            member.name,
            ", ".join(sorted(member.roles)),
            member.host,
            format_cores(member.cores),
            SIZE.format(member.memory_bytes),
            member.version,
            member.python,
            member.kernel,
            "" if clock is None else f"{milliseconds(clock.offset_s)} ± {milliseconds(clock.error_s)} ms",
            "" if clock is None else f"{milliseconds(clock.round_trip_s)} ms",
        )
    return [table]
