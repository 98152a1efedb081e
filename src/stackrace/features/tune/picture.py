"""Picture of the response over the settings, in characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ...base.numbers import number
from .model import Knob, Tuning, Values
from .tuning_result import Tuned


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spot:
    relative: float | None
    """Ratio to the tuned stack, above 1 is better; None if it was not launched."""
    is_out: bool
    """True if the configuration is beyond a limit, or failed."""
    is_best: bool
    """True if it is the tuned stack."""

    @property
    def figure(self) -> str:
        """Text of the spot: ``✗`` if it is left out, ``·`` if it was not launched, else its ratio."""
        return "✗" if self.is_out else "·" if self.relative is None else number(self.relative)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One panel of the picture: a map over two settings, a row over one, or a single spot."""

    title: str
    """The fixed settings of the panel."""
    across: Knob | None
    down: Knob | None
    rows: tuple[tuple[_Spot | None, ...], ...]
    """A row for each value of ``down``, with a spot for each value of ``across``. Without ``down`` there is one
    row, without ``across`` one spot a row."""


def facets(tuning: Tuning, found: Tuned) -> tuple[Facet, ...]:
    """Return the panels, one for each combination of values of all settings but two.

    These two settings are the axes: numeric ones if possible, with the most values. Panels without a launch are
    left out, unless no panel has one. A setting that has no effect in a panel is no axis of it.
    """
    knobs = tuple(_raced(tuning, found))
    by_size = sorted(range(len(knobs)), key=lambda i: (not knobs[i].numeric, -len(knobs[i].values), i))
    axes = sorted(by_size[:2])
    others = [i for i in range(len(knobs)) if i not in axes]
    panels: dict[Values, dict[Values, _Spot]] = {}
    for values, spot in _spots(knobs, tuning, found):
        panels.setdefault(tuple(values[i] for i in others), {})[values] = spot
    order = [fixed for fixed in product(*((*knobs[i].values, None) for i in others)) if fixed in panels]
    seen = [fixed for fixed in order if any(spot.relative is not None for spot in panels[fixed].values())]
    return tuple(
        _facet(knobs, axes, dict(zip(others, fixed, strict=True)), panels[fixed]) for fixed in seen or order
    )


def _raced(tuning: Tuning, found: Tuned) -> Iterator[Knob]:
    for d, knob in enumerate(tuning.knobs):
        launched = {one.values[d] for one in found.responses}
        extra = {*knob.below, *knob.above} - launched
        yield replace(knob, values=tuple(value for value in knob.ladder if value not in extra))


def _spots(knobs: Sequence[Knob], tuning: Tuning, found: Tuned) -> Iterator[tuple[Values, _Spot]]:
    measured = {one.stack: one.relative for one in found.responses}
    out = {one.stack for one in found.infeasible}
    for path, values in tuning.settings.items():
        if all(value is None or value in knob.values for knob, value in zip(knobs, values, strict=True)):
            yield values, _Spot(relative=measured.get(path), is_out=path in out, is_best=path == found.stack)


def _facet(
    knobs: Sequence[Knob], axes: list[int], fixed: dict[int, str | None], inside: dict[Values, _Spot]
) -> Facet:
    used = [i for i in axes if any(values[i] is not None for values in inside)]
    # the setting with more values goes across
    used.sort(key=lambda i: -len(knobs[i].values))
    across, down = (*(knobs[i] for i in used), None, None)[:2]
    spots = {tuple(values[i] for i in used): spot for values, spot in inside.items()}
    columns, rows = ([(value,) for value in knob.values] if knob else [()] for knob in (across, down))
    names = [knob.name for knob in knobs]
    title = ", ".join(
        f"{knobs[i] if names.count(names[i]) > 1 else names[i]}={value}"
        for i, value in fixed.items()
        if value is not None
    )
    return Facet(
        title=title,
        across=across,
        down=down,
        rows=tuple(tuple(spots.get((*column, *row)) for column in columns) for row in rows),
    )


LEGEND = "Compared with the tuned stack, which is 1; above 1 is better. · not launched, ✗ left out."

_BLOCKS = "▁▂▃▄▅▆▇█"
_BEST = "◆"


def block_lines(panel: Facet) -> Iterator[str]:
    """Yield the panel line by line: a map for two settings, a row for one."""
    if panel.title:
        yield panel.title
    names = [f"{panel.down.name}={value}" for value in panel.down.values] if panel.down else [""]
    heads = panel.across.values if panel.across else ()
    cells = [[_block(spot) for spot in row] for row in panel.rows]
    width = max(len(cell) for line in (*cells, heads) for cell in line) + 2
    indent = max(map(len, names))
    if panel.across:
        yield _row_text(f"{panel.across.name}=".rjust(indent), heads, width, indent)
    for name, line in zip(names, cells, strict=True):
        yield _row_text(name, line, width, indent)


def _row_text(name: str, cells: Sequence[str], width: int, indent: int) -> str:
    return (name.rjust(indent) + "".join(cell.rjust(width) for cell in cells)).rstrip()


def _block(spot: _Spot | None) -> str:
    if spot is None:
        return ""
    if spot.is_out or spot.relative is None:
        return spot.figure
    block = _BLOCKS[min(max(int(spot.relative * (len(_BLOCKS) - 1) + 0.5), 0), len(_BLOCKS) - 1)]
    return f"{spot.figure}{_BEST if spot.is_best else block}"
