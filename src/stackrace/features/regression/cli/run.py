"""A check with its progress on stderr, and its answer at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ....base.errors import InterruptedRace
from ....cli.announcer import Announcer
from ....cli.showing import refuse_unwritable, reports_folder, write_text
from ....race.request.request import RaceRequest
from ....race.results.comparison import Response
from ....race.results.race import Ending, Race
from ....stacks.stack import Side
from ....store import open_store
from ..answer import gate_answer
from ..prepared import CheckRequest, ready_check
from ..variants import VariantRequest
from .progress import CheckProgress

__all__ = ["Outputs", "check_and_report", "outputs_of", "schema_text", "sides_of"]

_FILES = ("junit", "markdown", "openmetrics", "html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where the answer goes."""

    files: Mapping[str, Path]
    """By format."""
    as_json: bool
    store: str | None


def outputs_of(given: Mapping[str, Any], *, as_json: bool, store: str | None) -> Outputs:
    """Return where the answer goes; raises InputError for a file that could not be written."""
    files = {name: given[name] for name in _FILES if given[name] is not None}
    for name, path in files.items():
        refuse_unwritable(f"--{name}", path)
    return Outputs(files=files, as_json=as_json, store=store)


def sides_of(given: Mapping[str, Any]) -> dict[Side, VariantRequest]:
    """Return what the flags say of each side alone."""
    return {
        side: VariantRequest(
            python=given[f"{side}_python"],
            settings=given[f"{side}_settings"],
            stack=given[f"{side}_stack"],
            environment=given[f"{side}_env"],
        )
        for side in (Side.BASE, Side.HEAD)
    }


def schema_text() -> str:
    """Return the schema of the JSON document."""
    from ..report.document import schema

    return schema()


def check_and_report(
    request: RaceRequest,
    *,
    base: str | None,
    own: Mapping[Side, VariantRequest],
    allowances: Mapping[Response, float | None],
    outputs: Outputs,
) -> None:
    """Check, keep the race, show the answer, and end with its exit code."""
    asked = CheckRequest(race=request, base=base, own=own, allowances=allowances)
    with open_store(outputs.store) as store:
        store.need_writable()
        with Announcer() as announcer, ready_check(asked, store, announcer) as ready:
            announcer.done()
            with CheckProgress(ready.prepared) as shown:
                race = ready.run(shown)
    _report(race, outputs)


def _report(race: Race, outputs: Outputs) -> None:
    from ....report.terminal import print_sections
    from ..report.kind import gate_sheet, rendered

    result = gate_answer(race)
    files = {"html": reports_folder() / f"{race.id}.html", **outputs.files}
    for name, path in files.items():
        write_text(rendered(race, result, name), path)
    if outputs.as_json:
        click.echo(rendered(race, result, "json"), nl=False)
    else:
        print_sections(gate_sheet(race, result))
    again = f"\nThe report: {files['html'].absolute()}\nAgain, in any format: stackrace report {race.id}"
    click.echo(again, err=outputs.as_json)
    if race.ending is Ending.INTERRUPTED:
        raise InterruptedRace(f"interrupted; what was measured is kept as race {race.id}")
    if result.exit_code:
        raise SystemExit(result.exit_code)
