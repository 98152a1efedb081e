"""``stackrace doctor``."""

from __future__ import annotations

import click

from ...model.units import DURATION
from ..options import Quantity

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace doctor                    what disturbs measurements here, and what to do about it
  stackrace doctor -c 10000           the same for a race at 10,000 connections
  stackrace doctor --apply            change what is safe to change; --undo puts it back
  stackrace doctor --json | jq -r '.advice[].command'"""
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def command(concurrency: int, watch: float, applying: bool, undoing: bool, as_json: bool) -> None:
    """Find what disturbs measurements on this machine, and say what to change, the most useful first.

    It changes nothing without --apply, and never stops a service or a program.

    Exit codes: 0 races may start, 1 something forbids them or a change failed, 2 wrong usage.
    """
    from ...doctor import Kernel, Record, apply, examine, look, undo
    from ...model.race import Resources
    from ...probe import physical_cores
    from ...setup.cores import split_cores, usable_cores
    from ...store.address import data_folder
    from ..showing import print_document
    from .show import document, print_examination, print_outcomes

    if applying and undoing:
        raise click.UsageError("--apply and --undo contradict each other; give one of them")
    kernel, record = Kernel(), Record(data_folder())
    if undoing:
        outcomes = undo(kernel, record)
        if as_json:
            print_document(document(None, outcomes, record))
        else:
            print_outcomes(outcomes, record, undoing=True)
        raise SystemExit(int(not all(outcome.settled for outcome in outcomes)))
    stacks, engine = split_cores(physical_cores(usable_cores()))
    cores = Resources(stack_cores=stacks, generator_cores=engine)
    examination = examine(look(kernel, cores=cores, concurrency=concurrency, watch_s=watch))
    outcomes = apply(kernel, record, examination.changes) if applying and examination.changes else ()
    if as_json:
        print_document(document(examination, outcomes, record))
    else:
        print_examination(examination, record, applying=applying)
        if applying:
            print_outcomes(outcomes, record, undoing=False)
    raise SystemExit(int(examination.forbidden or not all(outcome.settled for outcome in outcomes)))
