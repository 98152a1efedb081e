"""A result on the screen, in a file, in any format."""

from __future__ import annotations

from pathlib import Path

import click

from ..model.errors import InputError
from ..model.race import Race
from ..model.standing import Standing
from ..report import Format, exporter
from ..store.address import data_folder

__all__ = ["show", "write", "write_html", "write_text"]


def show(race: Race, result: Standing, *, as_json: bool) -> None:
    """Print the result on stdout: for people, or as one JSON document."""
    if as_json:
        click.echo(exporter(Format.JSON).export(race, result), nl=False)
        return
    from ..report.terminal import print_report

    print_report(race, result)


def write(form: Format, race: Race, result: Standing, path: Path) -> None:
    """Write the result to ``path``; raises InputError when it cannot be written."""
    write_text(exporter(form).export(race, result), path)


def write_text(text: str, path: Path) -> Path:
    """Write a report to ``path``; returns where it is, raises InputError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"the report {path} cannot be written: {error.strerror}; name another place") from error
    return path.absolute()


def write_html(race: Race, result: Standing, path: Path | None) -> Path:
    """Write the HTML report to ``path``, by default beside the results; returns where it is."""
    path = path or data_folder() / "reports" / f"{race.id}.html"
    write(Format.HTML, race, result, path)
    return path.absolute()
