"""What a race that tunes found, as Markdown, to paste into an issue or a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ....race.results.race import Race
from ....report.markdown import drawn
from ..model import Tuned, tuning_of
from .blocks import LEGEND, block_lines
from .picture import facets
from .sheet import race_file_line, tuning_sheet

__all__ = ["markdown"]

_BACKTICKS = re.compile("`+")


def markdown(race: Race, found: Tuned) -> str:
    """Return the sections of the sheet, the picture in characters, and the line of a race file."""
    parts = [drawn(tuning_sheet(race, found), heading="####")]
    if panels := facets(tuning_of(race), found) if found.responses else ():
        lines = [line for panel in panels for line in block_lines(panel)]
        parts.append("\n".join(("#### The response", "", *_fenced([*lines, LEGEND]))) + "\n")
    if found.stack:
        parts.append("\n".join(("In a race file:", "", *_fenced([race_file_line(found.stack)]))) + "\n")
    return "\n".join(parts)


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Yield ``lines`` as they stand, whatever is in them."""
    longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (fence, *lines, fence)
