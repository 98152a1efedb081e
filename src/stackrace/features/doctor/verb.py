"""``stackrace doctor``."""

from __future__ import annotations

from functools import partial

import click

from ...base.units import DURATION
from ...cli.options import Quantity, schema_option


@click.command(
    epilog="""\b
Examples:
  stackrace doctor                    what disturbs measurements here, and what to do about it
  stackrace doctor -c 10000           the same for a race at 10,000 connections
  stackrace doctor --apply            change what is safe to change; --undo puts it back
  stackrace doctor --json | jq -r '.advice[].command'
  stackrace doctor --cluster tcp://10.0.0.1:8786   each machine of a cluster, and whether they fit together"""
)
@click.option(
    "-c",
    "--concurrency",
    type=click.IntRange(1, 1_000_000),
    default=100,
    help="The highest concurrency of your races. Default: 100.",
)
@click.option(
    "--watch",
    type=Quantity(DURATION),
    metavar="TIME",
    default=2.0,
    show_default=False,
    help="How long to watch the machine for other programs. Default: 2s.",
)
@click.option(
    "--apply",
    "applying",
    is_flag=True,
    help="Make the safe changes: kernel settings, until --undo or the next boot. Needs root.",
)
@click.option("--undo", "undoing", is_flag=True, help="Undo what --apply changed, and do nothing else.")
@click.option(
    "--cluster",
    metavar="SCHEDULER",
    help="Look at the workers of this Dask cluster, as in tcp://10.0.0.1:8786. Default: at this machine.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
@schema_option("stackrace.features.doctor.doctor_report:schema", of="the JSON document of --cluster")
def command(
    concurrency: int, watch: float, applying: bool, undoing: bool, cluster: str | None, as_json: bool
) -> None:
    """Find what disturbs measurements on this machine, and say what to change, the most useful first.

    It changes nothing without --apply, and never stops a service or a program.

    Exit codes: 0 races may start, 1 something forbids them or a change failed, 2 wrong usage.
    """
    from ...cli.showing import show_result
    from ...store.address import data_folder
    from .all_advice import examine_machine
    from .doctor_report import VISIT, Visit
    from .kernel import Kernel, Record, apply, undo

    if applying and undoing:
        raise click.UsageError("--apply and --undo contradict each other; give one of them")
    if cluster is not None:
        if applying or undoing:
            raise click.UsageError(
                "--apply and --undo change this machine only; type them on each without --cluster"
            )
        raise SystemExit(int(_is_cluster_forbidden(cluster, concurrency, watch, as_json)))
    kernel, record = Kernel(), Record(data_folder())
    if undoing:
        visit = Visit(examination=None, outcomes=undo(kernel, record), record=record)
    else:
        found = examine_machine(watch, concurrency)
        made = apply(kernel, record, found.changes) if applying and found.changes else ()
        visit = Visit(examination=found, outcomes=made if applying else None, record=record)
    show_result(VISIT, visit, as_json=as_json)
    raise SystemExit(int(visit.forbids))


def _is_cluster_forbidden(address: str, concurrency: int, watch_s: float, as_json: bool) -> bool:
    from ...cli.showing import show_result
    from ...race.preparation.prepared import machine_source
    from .all_advice import examine_machine
    from .doctor_report import CLUSTER, is_forbidden

    found = machine_source().examined(address, concurrency, partial(examine_machine, watch_s))
    show_result(CLUSTER, found, as_json=as_json)
    return is_forbidden(found)
