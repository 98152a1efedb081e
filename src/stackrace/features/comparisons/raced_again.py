"""A published comparison raced again part by part, stored, and shown.

Only the list of its races is stored, a small JSON document in a folder beside the results; everything else is
computed again from them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from ...base import ids
from ...base.codec import decode, encode, pretty
from ...base.errors import InterruptedRace, MissingError, RefusedError, StackraceError, StoreError, said_by
from ...cli.live_race import Output, raced
from ...cli.showing import reports_folder, write_text
from ...deploy.privileges import private_folder
from ...race.preparation.choosing import ready_stack
from ...race.preparation.installing import distinct, missing_items, refusal
from ...race.request.race_file import read_race_file
from ...race.results.race import Ending, Race
from ...race.run.scheduling import ChosenCells
from ...report.exporter import Format, written
from ...report.merged_standing import standing_of
from ...report.terminal import print_sections
from ...report.troubles import complaints
from ...report.words.answer_sentence import answer
from ...stacks.servers import catalogue
from ...store import open_store
from ...store.address import data_folder
from . import words
from .comparison_parts import PartRequest, part_request, still_open
from .judging import judged
from .kind import KIND
from .model import Comparison, Part
from .reading import read_comparison
from .rerun import Kept, Mode, PartOutcome, Rerun

if TYPE_CHECKING:
    from ...store.store import Store

_WIDTH = 100
"""Maximum width of a report in columns: it is read beside another report."""

_FORMAT = {"format": "stackrace-rerun", "version": 1}


def rerun_comparison(name: str, mode: Mode, output: Output, asked: Mapping[str, Any]) -> None:
    """Race the comparison ``name`` again, store the list of its races if any part could be raced, and show it.

    ``asked`` overrides each part's race file: the budget of a quick rerun, the seed. A part that cannot run here
    has its reason among the outcomes, and the others go on. Raises MissingError, before anything is raced, if every
    part lacks something; InterruptedRace after an interruption, with the results stored, and RefusedError if no
    part gave a race.
    """
    with open_store(output.store) as store:
        store.need_writable()
        comparison = read_comparison(name)
        wanted = {part.key: _wanted(comparison, part, mode, asked) for part in comparison.parts}
        if (item := _missing_of_comparison(comparison)) is not None:
            if all(isinstance(part, MissingError) for part in wanted.values()):
                raise item
            click.echo(item.message, err=True)
        races, parts, interrupted = _raced(comparison, wanted, mode, store)
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    kept = Kept(id=ids.generate(), name=name, made_at=made_at, mode=mode, parts=parts)
    if races:
        keep(kept, _folder())
    _show(judged(comparison, kept, races), races, output)
    if interrupted:
        raise InterruptedRace("interrupted; the results are kept; continue a part with: stackrace run --resume ID")
    if not races:
        why = "the document's parts say why" if output.as_json else "see the reasons above"
        raise RefusedError(f"no part of the comparison could be run; {why}")


def show_comparison(name: str, *, store_url: str | None, form: Format | None, html: Path | None) -> None:
    """Show the last rerun of the comparison ``name``, judged anew from its races: on the terminal, in ``form``, or
    as the file ``html``."""
    with open_store(store_url) as store:
        rerun = last_rerun(name, store)
    if html is not None:
        click.echo(f"The report: {_write_html(rerun, html)}", err=form is not None)
    if form is not None or html is None:
        _print(rerun, form)


def last_rerun(name: str, store: Store) -> Rerun:
    """Return the last rerun of the comparison ``name``, judged anew from its races; raises StoreError if there is
    none, or ``store`` lacks its races."""
    comparison, kept = read_comparison(name), latest(name, _folder())
    races = {outcome.part: store.load(outcome.race) for outcome in kept.parts if outcome.race is not None}
    parts = (
        _outcome(races[outcome.part], outcome.part, outcome.left_out) if outcome.race else outcome
        for outcome in kept.parts
    )
    return judged(comparison, replace(kept, parts=tuple(parts)), races)


def _show(rerun: Rerun, races: Mapping[str, Race], output: Output) -> None:
    _print(rerun, Format.JSON if output.as_json else None)
    if races:
        path = _write_html(rerun, output.html)
        ours = ", ".join(f"stackrace report {race.id}" for race in races.values())
        hint = f"stackrace report historic/{rerun.comparison.name}"
        click.echo(f"\nThe report: {path}\nAgain: {hint}\nIts races: {ours}", err=output.as_json)


def _print(rerun: Rerun, form: Format | None) -> None:
    if form is None:
        print_sections(KIND.sections(rerun), width=_WIDTH)
    else:
        click.echo(written(KIND, rerun, form), nl=False)


def _write_html(rerun: Rerun, path: Path | None) -> Path:
    path = path or reports_folder() / f"{rerun.comparison.name}-{rerun.kept.id}.html"
    return write_text(written(KIND, rerun, Format.HTML), path)


def _raced(
    comparison: Comparison, wanted: Mapping[str, PartRequest | StackraceError], mode: Mode, store: Store
) -> tuple[dict[str, Race], tuple[PartOutcome, ...], bool]:
    races: dict[str, Race] = {}
    outcomes: list[PartOutcome] = []
    interrupted = False
    for part in comparison.parts:
        if interrupted:
            break
        planned = wanted[part.key]
        left_out = planned.left_out if isinstance(planned, PartRequest) else ()
        for line in (f"{comparison.name}: {part.title}", *left_out):
            click.echo(line, err=True)
        try:
            if isinstance(planned, StackraceError):
                raise planned
            scheduling = ChosenCells(still_open(comparison, part)) if mode is Mode.QUICK else None
            race = raced(planned.request, store, scheduling=scheduling)
        except (KeyboardInterrupt, InterruptedRace):
            interrupted = True
        except StackraceError as error:
            outcomes.append(PartOutcome(part=part.key, trouble=_trouble(error)))
        else:
            interrupted = race.ending is Ending.INTERRUPTED
            races[part.key] = race
            outcomes.append(_outcome(race, part.key, left_out))
    not_reached = (
        PartOutcome(part=part.key, trouble="it was interrupted") for part in comparison.parts[len(outcomes) :]
    )
    return races, (*outcomes, *not_reached), interrupted


def _wanted(
    comparison: Comparison, part: Part, mode: Mode, asked: Mapping[str, Any]
) -> PartRequest | StackraceError:
    try:
        wanted = part_request(comparison, part, mode, ready_stack)
        if missing := missing_items(wanted.request, catalogue()):
            raise MissingError(f"it lacks {', '.join(item.words for item in missing)}")
    except StackraceError as error:
        return error
    return replace(wanted, request=replace(wanted.request, **asked))


def _missing_of_comparison(comparison: Comparison) -> MissingError | None:
    """Return what the parts of ``comparison`` lack here, with the command that installs it, or None."""
    known = catalogue()
    races = [read_race_file(part.file, lambda path: None) for part in comparison.parts]
    missing = distinct(item for race in races for item in missing_items(race, known))
    name = f"historic/{comparison.name}"
    can_be_had = any(not item.elsewhere for item in missing)
    return (
        refusal(name, missing, shlex.join(["stackrace", "install", name]) if can_be_had else "")
        if missing
        else None
    )


def _trouble(error: StackraceError) -> str:
    first = error.detail.strip().splitlines()
    return f"{error.message} ({first[-1].strip()})" if first else error.message


def _outcome(race: Race, part: str, left_out: tuple[str, ...]) -> PartOutcome:
    standing = standing_of(race)
    return PartOutcome(
        part=part,
        race=race.id,
        answer=answer(race, standing, words.FLAGS),
        elapsed_s=race.elapsed_s,
        difference=race.difference,
        left_out=left_out,
        complaints=tuple(
            f"{complaint.headline}, {complaint.check}: {complaint.seen}."
            for complaint in complaints(race, standing)
        ),
    )


def _folder() -> Path:
    return data_folder() / "historic"


def keep(kept: Kept, folder: Path) -> Path:
    """Write ``kept`` into ``folder`` and return its file; raises StoreError if it cannot be written."""
    path = folder / f"{kept.name}-{kept.id}.json"
    numbered = replace(kept, number=1 + sum(1 for _ in folder.glob(f"{kept.name}-*.json")))
    try:
        private_folder(folder)
        path.write_text(pretty(_FORMAT | encode(numbered)), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}; set XDG_DATA_HOME") from error
    return path


def rerun_files(name: str, folder: Path | None = None) -> list[Path]:
    """Return the files of all reruns of the comparison ``name`` in ``folder``, by default the user's."""
    files = sorted((folder or _folder()).glob(f"{name}-*.json"))
    return [path for path in files if ids.is_valid(path.stem.removeprefix(f"{name}-"))]


def latest(name: str, folder: Path) -> Kept:
    """Return the last rerun of ``name`` in ``folder``; raises StoreError if there is none, or none is readable."""
    reruns = [_read(path) for path in rerun_files(name, folder)]
    if not reruns:
        raise StoreError(f"historic/{name} has not been run yet; start with: stackrace run historic/{name} --quick")
    # not by time alone: clocks may be set back
    return max(reruns, key=lambda kept: (kept.number, kept.made_at))


def _read(path: Path) -> Kept:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if {name: document.pop(name) for name in _FORMAT} != _FORMAT:
            raise StoreError(f"{path} was written by another version of stackrace; {_away(path)}")
        kept: Kept = decode(Kept, document)
        return kept
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} cannot be read: {said_by(error)}; {_away(path)}") from error


def _away(path: Path) -> str:
    name = quote(str(path))
    return f"move it away: mv {name} {name}.old"
