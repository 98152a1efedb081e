"""A result on the screen, in a file, in any format."""

from __future__ import annotations

from pathlib import Path

import click

from ..model.errors import InputError
from ..model.race import Race
from ..model.standing import Standing
from ..report import Format, render
from ..store.address import data_folder

__all__ = ["show", "write_html", "write_text"]


def show(race: Race, standing: Standing, form: Format | None) -> None:
    """Print the result on stdout, in ``form`` or, without one, for people."""
    if form is not None:
        click.echo(render(race, standing, form), nl=False)
        return
    from ..report.terminal import print_report

    print_report(race, standing)


def write_text(text: str, path: Path) -> Path:
    """Write a report to ``path``; returns where it is, raises InputError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"the report {path} cannot be written: {error.strerror}; name another place") from error
    return path.absolute()


def write_html(race: Race, standing: Standing, path: Path | None) -> Path:
    """Write the HTML report to ``path``, by default beside the results; returns where it is."""
    path = path or data_folder() / "reports" / f"{race.id}.html"
    return write_text(render(race, standing, Format.HTML), path)
