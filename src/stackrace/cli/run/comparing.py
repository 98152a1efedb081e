"""A published comparison run again, part by part: ``stackrace run historic/NAME``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...historic.judging import judged
from ...historic.kept import Kept, keep, latest
from ...historic.reading import read_comparison
from ...historic.requesting import part_request
from ...historic.stopping import still_open
from ...model import ids
from ...model.comparison import Comparison, Mode, Part, PartOutcome, Rerun
from ...model.errors import InterruptedRace, RefusedError, StackraceError
from ...model.race import Ending, Race
from ...report.complaints import complaints
from ...report.historic import Form, rerun_exporter
from ...report.result import standing_of
from ...report.words import words_of
from ...servers import catalogue
from ...setup.choosing import asked
from ...store import open_store
from ...store.address import data_folder
from ..showing import write_text
from .racing import raced, stoppable

if TYPE_CHECKING:
    from ...store.store import Store  # imports Django

__all__ = ["Options", "compare_again", "show_again"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the flags say of the whole comparison; ``budget_s`` is that of each part, quick reruns only."""

    mode: Mode
    budget_s: float | None = None
    seed: int | None = None
    html: Path | None = None
    as_json: bool = False


def compare_again(name: str, options: Options, *, store_url: str | None) -> None:
    """Run the comparison ``name`` again, keep what it is made of, show it.

    A part that cannot run here is told and the others go on. Raises InterruptedRace after an interruption, keeping
    what was measured, and RefusedError when not one part gave a race.
    """
    comparison = read_comparison(name)
    with stoppable(), open_store(store_url) as store:
        races, parts, interrupted = _run_parts(comparison, options, store)
    kept = Kept(id=ids.generate(), name=name, made_at=_now(), mode=options.mode, parts=parts)
    if races:
        keep(kept, _folder())
    rerun = judged(comparison, races, parts, id=kept.id, made_at=kept.made_at, mode=kept.mode)
    if options.as_json:
        click.echo(rerun_exporter(Form.JSON).export(rerun), nl=False)
    else:
        _print(rerun)
    if races:
        path = _write_html(rerun, options.html)
        ours = ", ".join(f"stackrace report {race.id}" for race in races.values())
        click.echo(
            f"\nThe report: {path}\nAgain: stackrace report historic/{name}\nIts races: {ours}", err=options.as_json
        )
    if interrupted:
        raise InterruptedRace(
            "interrupted; what was measured is kept; go on with the race of a part: stackrace run --resume ID"
        )
    if not races:
        why = "the document's parts say why" if options.as_json else "the reasons stand above"
        raise RefusedError(f"no part of the comparison could be run; {why}")


def show_again(name: str, *, store_url: str | None, form: Form | None, html: Path | None) -> None:
    """Show the last rerun of the comparison ``name``: on the terminal, in ``form``, or as the file ``html``."""
    comparison = read_comparison(name)
    kept = latest(name, _folder())
    with open_store(store_url) as store:
        races = {one.part: store.load(one.race) for one in kept.parts if one.race is not None}
    parts = tuple(_outcome(races[one.part], one.part, one.left_out) if one.race else one for one in kept.parts)
    rerun = judged(comparison, races, parts, id=kept.id, made_at=kept.made_at, mode=kept.mode)
    if html is not None:
        click.echo(f"The report: {_write_html(rerun, html)}", err=form is not None)
    if form is not None:
        click.echo(rerun_exporter(form).export(rerun), nl=False)
    elif html is None:
        _print(rerun)


def _run_parts(
    comparison: Comparison, options: Options, store: Store
) -> tuple[dict[str, Race], tuple[PartOutcome, ...], bool]:
    """Race part after part; tells, too, whether the user stopped it."""
    races: dict[str, Race] = {}
    outcomes: list[PartOutcome] = []
    for part in comparison.parts:
        click.echo(f"{comparison.name}: {part.title}", err=True)
        try:
            race, left_out = _run_part(comparison, part, options, store)
        except KeyboardInterrupt:
            return races, (*outcomes, *_not_reached(comparison, len(outcomes))), True
        except InterruptedRace:
            return races, (*outcomes, *_not_reached(comparison, len(outcomes))), True
        except StackraceError as error:
            outcomes.append(PartOutcome(part=part.key, trouble=_told(error)))
            continue
        races[part.key] = race
        outcomes.append(_outcome(race, part.key, left_out))
        if race.ending is Ending.INTERRUPTED:
            return races, (*outcomes, *_not_reached(comparison, len(outcomes))), True
    return races, tuple(outcomes), False


def _run_part(comparison: Comparison, part: Part, options: Options, store: Store) -> tuple[Race, tuple[str, ...]]:
    request = part_request(comparison, part, options.mode, lambda path: asked([path], catalogue()))
    for told in request.left_out:
        click.echo(told, err=True)
    wanted = request.request
    if options.budget_s is not None:
        wanted = replace(wanted, budget_s=options.budget_s)
    if options.seed is not None:
        wanted = replace(wanted, seed=options.seed)
    still = still_open(comparison, part) if options.mode is Mode.QUICK else None
    return raced(wanted, store, still=still), request.left_out


def _not_reached(comparison: Comparison, done: int) -> tuple[PartOutcome, ...]:
    return tuple(PartOutcome(part=part.key, trouble="it was interrupted") for part in comparison.parts[done:])


def _told(error: StackraceError) -> str:
    first = error.detail.strip().splitlines()
    return f"{error.message} ({first[-1].strip()})" if first else error.message


def _outcome(race: Race, part: str, left_out: tuple[str, ...]) -> PartOutcome:
    standing = standing_of(race)
    return PartOutcome(
        part=part,
        race=race.id,
        answer=words_of(race, standing).answer,
        elapsed_s=race.elapsed_s,
        difference=race.difference,
        left_out=left_out,
        complaints=tuple(f"{one.headline}, {one.check}: {one.seen}." for one in complaints(race, standing)),
    )


def _print(rerun: Rerun) -> None:
    from ...report.historic.terminal import print_rerun

    print_rerun(rerun)


def _write_html(rerun: Rerun, path: Path | None) -> Path:
    path = path or data_folder() / "reports" / f"{rerun.comparison.name}-{rerun.id}.html"
    return write_text(rerun_exporter(Form.HTML).export(rerun), path)


def _folder() -> Path:
    return data_folder() / "historic"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
