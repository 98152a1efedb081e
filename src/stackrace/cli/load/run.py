"""``stackrace load``: one run, refused or shown."""

from __future__ import annotations

from pathlib import Path

import click

from ...api.load.limits import open_connections, refuse_too_much
from ...api.load.measure import LoadSetup, measure
from ...api.load.options import LoadOptions
from ...base.errors import RefusedError
from ...measure.engine.load_run import FinishedRun
from ...measure.load import LoadResult
from ..showing import refuse_unwritable
from .progress import ProgressLine
from .raced import RacedTarget

__all__ = ["run_and_show"]


def run_and_show(options: LoadOptions, target: RacedTarget, *, as_json: bool, hdr: Path | None) -> None:
    """Do what ``stackrace load`` was asked for. Raises InputError before anything is sent."""
    from .show import show

    refuse_unwritable("--hdr", hdr)
    with target.set_up(options) as setup:
        ran = _ran(setup, quiet=as_json)
    if hdr is not None:
        _write_hgrm(hdr, ran.result)
    show(ran, as_json=as_json)
    if ran.result.counts.scheduled and not ran.result.counts.ok and not ran.interrupted:
        why = "the document says how they failed" if as_json else "see the reasons above"
        raise RefusedError(f"there was no right answer; {why}")


def _ran(setup: LoadSetup, *, quiet: bool) -> FinishedRun:
    options = setup.options
    load = options.load(open_connections(setup.over_tcp))
    notes = (*setup.target.notes, *refuse_too_much(load, setup.cores, over_tcp=setup.over_tcp))
    warmup_s = options.warmup or 0.0
    line = ProgressLine(load, warmup_s, quiet=quiet)
    return measure(setup, load, line, warmup_s=warmup_s, notes=notes)


def _write_hgrm(path: Path, result: LoadResult) -> None:
    from ...measure.engine.histogram import percentile_distribution
    from ..signals import uncut

    try:
        with uncut(path):
            path.write_text(percentile_distribution(result.histogram), encoding="ascii")
    except OSError as error:
        # the result stands all the same
        click.echo(f"--hdr {path} could not be written: {error.strerror}", err=True)
