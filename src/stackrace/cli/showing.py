"""A result on the screen, in a file, in any format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.errors import InputError
from ..model.race import Race
from ..model.standing import Standing
from ..report import Format, render
from ..store.address import data_folder

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["print_document", "print_parts", "show", "write_html", "write_text"]


def print_document(document: object) -> None:
    """Print one JSON document on stdout."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def print_parts(parts: Iterable[RenderableType]) -> None:
    """Print ``parts`` on stdout for people: tables as wide as the terminal, lines as long as they are."""
    from rich.text import Text

    from ..report.terminal import make_console

    console = make_console()
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text))


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
