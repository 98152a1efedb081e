"""Results on the screen or in a file, in any format; the stored race that an argument names, and how to continue
it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from ..base.errors import InputError, StoreError
from ..deploy.privileges import private_folder
from ..report.exporter import Format, Kind, render
from ..store.address import VARIABLE, SqliteFile, data_folder, default_file
from .signals import uncut

if TYPE_CHECKING:
    from ..race.results.race import Race
    from ..race.results.standing import Standing
    from ..store.store import Store

_Result = TypeVar("_Result")


def print_document(document: object) -> None:
    """Print one JSON document on stdout."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def show_result(kind: Kind[_Result], result: _Result, *, as_json: bool) -> None:
    """Print ``result`` on stdout: for people, or as one JSON document."""
    if as_json:
        print_document(kind.document(result))
        return
    from ..report.terminal import print_sections

    print_sections(kind.sections(result))


def show(race: Race, standing: Standing | None, form: Format | None, *, details: bool) -> None:
    """Print the result on stdout in ``form``; without one print one screen for people, or all ``details``."""
    if form is not None:
        click.echo(render(race, standing, form), nl=False)
        return
    from ..report.terminal import print_report

    print_report(race, standing, details=details)


def reports_folder() -> Path:
    """Return the default folder of reports; create it if it does not exist."""
    folder = data_folder() / "reports"
    try:
        private_folder(folder)
    except OSError as error:
        raise InputError(
            f"the folder {folder} cannot be made: {error.strerror}; name another place with --html"
        ) from error
    return folder


def write_text(text: str, path: Path) -> Path:
    """Write a report that only its owner can read and return its path; raise InputError if that fails."""
    try:
        with uncut(path), open(path, "w", encoding="utf-8", opener=_open_private) as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"the report {path} cannot be written: {error.strerror}; name another place") from error
    return path.absolute()


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def write_html(race: Race, standing: Standing | None, path: Path | None) -> Path:
    """Write the HTML report to ``path``, by default into the reports folder, and return its path."""
    path = path or reports_folder() / f"{race.id}.html"
    return write_text(render(race, standing, Format.HTML), path)


def meant(race: str | None, store: Store) -> str:
    """Return the race that an argument names, by default the last one; raise StoreError if there is none."""
    chosen = race or store.latest()
    if chosen is None:
        raise StoreError("nothing has been raced yet; start with: stackrace run")
    return chosen


def go_on_with(race_id: str, store: Store) -> str:
    """Return the command that continues a race."""
    return f"stackrace run --resume {race_id}{at_store(store)}"


def at_store(store: Store) -> str:
    """Return the end of a command that needs ``store``; empty if the command finds it anyway."""
    if store.address == default_file() or VARIABLE in os.environ:
        return ""
    address = f"sqlite:///{store.address}" if isinstance(store.address, SqliteFile) else str(store.address)
    return f" --store {shlex.quote(address)}"


def unfinished_note(race: Race, store: Store) -> str:
    """Return a sentence on whether and how an unfinished race of this machine continues; empty for other races."""
    from ..race.results.race import Ending
    from ..store.race_lock import is_racing, made_here

    if race.ending not in (None, Ending.INTERRUPTED) or not made_here(race.id):
        return ""
    if is_racing(race.id):
        return "It is going on at this moment."
    if store.checkpoint(race.id) is None:
        return "It was interrupted, and cannot be continued."
    return f"It was interrupted; continue with: {go_on_with(race.id, store)}"


def short_steps(race: Race, standing: Standing, *, at: str = "") -> Iterator[str]:
    """Yield at most two next steps, a line each: read the whole report, and deploy the first stack.

    ``at`` is the end of a command that needs another store than the usual one: see ``at_store``.
    """
    yield f"All of it: stackrace report {race.id} --details{at}"
    if standing.settled and standing.verdict.valid:
        yield f"Deploy the first: stackrace export {race.id} --to deploy{at}"
