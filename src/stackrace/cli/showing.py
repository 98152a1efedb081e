"""A result on the screen, in a file, in any format."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.errors import InputError
from ..deploy.privileges import private_folder
from ..race.results.race import Race
from ..race.results.standing import Standing
from ..report.exporter import Format, render
from ..store.address import data_folder
from .signals import uncut

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "print_document",
    "print_parts",
    "refuse_unwritable",
    "reports_folder",
    "show",
    "write_html",
    "write_text",
]


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


def show(race: Race, standing: Standing, form: Format | None, *, details: bool) -> None:
    """Print the result on stdout, in ``form`` or, without one, for people: one screen of it, or all ``details``."""
    if form is not None:
        click.echo(render(race, standing, form), nl=False)
        return
    from ..report.terminal import print_report

    print_report(race, standing, details=details)


def refuse_unwritable(flag: str, path: Path | None) -> None:
    """Raise InputError for a file that could not be written, before what is to be in it is worked for."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise InputError(f"{flag} {path}: there is no folder {path.parent}; make it, or name another place")
    if path.is_dir():
        raise InputError(f"{flag} {path} is a folder; name a file in it")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{flag} {path} cannot be written; name another place")
    space = os.statvfs(path.parent)
    # a pipe needs no space, and /proc has none
    if (path.is_file() or not path.exists()) and space.f_blocks and not space.f_bavail:
        raise InputError(
            f"{flag} {path}: the disk of {path.parent} is full; free some space, or name another place"
        )


def reports_folder() -> Path:
    """Return where reports lie that were given no other place; it is made if need be."""
    folder = data_folder() / "reports"
    try:
        private_folder(folder)
    except OSError as error:
        raise InputError(
            f"the folder {folder} cannot be made: {error.strerror}; name another place with --html"
        ) from error
    return folder


def write_text(text: str, path: Path) -> Path:
    """Write a report for its owner to read; returns where it is, raises InputError when it cannot be written."""
    try:
        with uncut(path), open(path, "w", encoding="utf-8", opener=_private) as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"the report {path} cannot be written: {error.strerror}; name another place") from error
    return path.absolute()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def write_html(race: Race, standing: Standing, path: Path | None) -> Path:
    """Write the HTML report to ``path``, by default beside the results; returns where it is."""
    path = path or reports_folder() / f"{race.id}.html"
    return write_text(render(race, standing, Format.HTML), path)
