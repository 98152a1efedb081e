"""The response over the settings in characters: a block for each configuration, as high as it is good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....base.numbers import number
from .picture import Facet, Spot

__all__ = ["LEGEND", "block_lines"]

LEGEND = "Compared with the tuned stack, which is 1; above 1 is better. · not launched, ✗ left out."

_BLOCKS = "▁▂▃▄▅▆▇█"
_NOTHING, _OUT, _BEST = "·", "✗", "◆"


def block_lines(panel: Facet) -> Iterator[str]:
    """Yield the panel line by line: a map for two settings, a row for one."""
    if panel.title:
        yield panel.title
    columns = panel.across.values if panel.across else ("",)
    rows = panel.down.values if panel.down else ("",)
    names = [f"{panel.down.name}={row}" if panel.down else "" for row in rows]
    cells = [[_cell(panel.spots.get((column, row))) for column in columns] for row in rows]
    width = max(len(cell) for line in (*cells, columns) for cell in line) + 2
    indent = max(map(len, names))
    if panel.across:
        yield _line(f"{panel.across.name}=".rjust(indent), columns, width, indent)
    for name, line in zip(names, cells, strict=True):
        yield _line(name, line, width, indent)


def _line(name: str, cells: Sequence[str], width: int, indent: int) -> str:
    return (name.rjust(indent) + "".join(cell.rjust(width) for cell in cells)).rstrip()


def _cell(spot: Spot | None) -> str:
    if spot is None:
        return ""
    if spot.out:
        return _OUT
    if spot.relative is None:
        return _NOTHING
    block = _BLOCKS[min(max(int(spot.relative * (len(_BLOCKS) - 1) + 0.5), 0), len(_BLOCKS) - 1)]
    return f"{number(spot.relative)}{_BEST if spot.best else block}"
