"""A published comparison on the command line: raced again, or shown again."""

from __future__ import annotations

from pathlib import Path

import click

from ...base.errors import InterruptedRace, RefusedError
from ...cli.run.live import raced
from ...cli.run.output import Output
from ...cli.showing import reports_folder, write_text
from ...race.request.request import RaceRequest
from ...race.results.race import Race
from ...race.rounds import OpenCells
from ...report.exporter import Format, written
from ...report.terminal import print_sections
from ...store import open_store
from .model import Part
from .racing import FinishedRerun, RerunOptions, last_rerun, race_again
from .report.kind import KIND
from .rerun import Rerun

__all__ = ["compare_again", "show_again"]

_WIDTH = 100
"""Columns at most: a report that is read beside another one."""


def compare_again(name: str, options: RerunOptions, output: Output) -> None:
    """Run the comparison ``name`` again, keep what it is made of, show it.

    Raises InterruptedRace after an interruption, keeping what was measured, and RefusedError when not one part gave
    a race.
    """

    def on_part(part: Part, left_out: tuple[str, ...]) -> None:
        for line in (f"{name}: {part.title}", *left_out):
            click.echo(line, err=True)

    with open_store(output.store) as store:
        store.need_writable()

        def race_part(request: RaceRequest, open_cells: OpenCells | None) -> Race:
            return raced(request, store, open_cells=open_cells)

        outcome = race_again(name, options, race_part, on_part, lambda lack: click.echo(lack, err=True))
    _show(outcome, output)
    if outcome.interrupted:
        raise InterruptedRace("interrupted; the results are kept; continue a part with: stackrace run --resume ID")
    if not outcome.races:
        why = "the document's parts say why" if output.as_json else "see the reasons above"
        raise RefusedError(f"no part of the comparison could be run; {why}")


def show_again(name: str, *, store_url: str | None, form: Format | None, html: Path | None) -> None:
    """Show the last rerun of the comparison ``name``: on the terminal, in ``form``, or as the file ``html``."""
    with open_store(store_url) as store:
        rerun = last_rerun(name, store)
    if html is not None:
        click.echo(f"The report: {_write_html(rerun, html)}", err=form is not None)
    if form is not None:
        click.echo(written(KIND, rerun, form), nl=False)
    elif html is None:
        _print(rerun)


def _show(outcome: FinishedRerun, output: Output) -> None:
    rerun = outcome.rerun
    if output.as_json:
        click.echo(written(KIND, rerun, Format.JSON), nl=False)
    else:
        _print(rerun)
    if outcome.races:
        path = _write_html(rerun, output.html)
        ours = ", ".join(f"stackrace report {race.id}" for race in outcome.races.values())
        again = f"stackrace report historic/{rerun.comparison.name}"
        click.echo(f"\nThe report: {path}\nAgain: {again}\nIts races: {ours}", err=output.as_json)


def _print(rerun: Rerun) -> None:
    print_sections(KIND.sections(rerun), width=_WIDTH)


def _write_html(rerun: Rerun, path: Path | None) -> Path:
    path = path or reports_folder() / f"{rerun.comparison.name}-{rerun.id}.html"
    return write_text(written(KIND, rerun, Format.HTML), path)
