"""How what was tuned is shown: for people, as one JSON document, as a page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from ....cli.showing import print_document, print_parts, reports_folder, write_text
from ....race.results.race import Race
from ....report.terminal import drawn
from ..model import Tuned, tuning_of
from ..report.blocks import LEGEND, block_lines
from ..report.document import document
from ..report.page import page
from ..report.picture import facets
from ..report.sheet import race_file_line, tuning_sheet

__all__ = ["show_tuned", "write_page"]


def show_tuned(race: Race, found: Tuned, *, as_json: bool) -> None:
    """Print what was found on stdout."""
    if as_json:
        print_document(document(race, found))
        return
    print_parts(_parts(race, found))


def write_page(race: Race, found: Tuned, path: Path | None) -> Path:
    """Write the page to ``path``, by default beside the results; returns where it is."""
    return write_text(page(race, found), path or reports_folder() / f"{race.id}.html")


def _parts(race: Race, found: Tuned) -> Iterator[RenderableType]:
    yield drawn(tuning_sheet(race, found))
    panels = facets(tuning_of(race), found)
    if found.responses and panels:
        yield Text()
        yield Text("The response", style="bold")
        for panel in panels:
            for line in block_lines(panel):
                yield Text(line)
        yield Text(LEGEND, style="dim")
    if found.stack:
        yield Text()
        yield Text(f"Race it: stackrace run --stack {shlex.quote(found.stack)}")
        yield Text(f"In a race file: {race_file_line(found.stack)}")
