"""``stackrace cluster``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ...base.numbers import milliseconds
from ...base.units import SIZE
from ...cli.showing import show_result
from ...measure.resources import format_cores
from ...report.exporter import Kind
from ...report.sheet import Column, Section, Table, as_lines

if TYPE_CHECKING:
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
    from .connection import Connection

    with Connection(address) as connection:
        members = connection.members()
    show_result(_KIND, members, as_json=as_json)


def _document(members: Sequence[Member]) -> list[dict[str, object]]:
    return [{**asdict(each), "roles": sorted(each.roles), "cores": list(each.cores)} for each in members]


def _sections(members: Sequence[Member]) -> Iterator[Section]:
    if not members:
        yield as_lines(["Nobody is there. A machine joins with: dask worker SCHEDULER --resources 'stack=1'"])
        return
    cells: dict[str, Callable[[Member], str]] = {
        "machine": lambda member: member.name,
        "is for": lambda member: ", ".join(sorted(member.roles)),
        "address": lambda member: member.host,
        "cores": lambda member: format_cores(member.cores),
        "memory": lambda member: SIZE.format(member.memory_bytes),
        "stackrace": lambda member: member.version,
        "Python": lambda member: member.python,
        "kernel": lambda member: member.kernel,
    }
    clocks = [member.clock for member in members]
    offsets = (
        "" if clock is None else f"{milliseconds(clock.offset_s)} ± {milliseconds(clock.error_s)} ms"
        for clock in clocks
    )
    trips = ("" if clock is None else f"{milliseconds(clock.round_trip_s)} ms" for clock in clocks)
    table = Table(columns=(
        *(Column(title=title, cells=tuple(map(cell, members)), left=True) for title, cell in cells.items()),
        Column(title="clock ahead", cells=tuple(offsets)),
        Column(title="round trip", cells=tuple(trips)),
    ))  # fmt: skip
    yield Section(title="", blocks=(table,))


_KIND = Kind(sections=_sections, document=_document)
