"""The response over the settings: which ones span the picture, and what lies where. Drawn by others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from ..model import Knob, Tuned, Tuning

__all__ = ["Facet", "Spot", "facets"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One configuration in the picture."""

    stack: str
    relative: float | None
    """Compared with the tuned stack, above 1 is better; None where it was not launched."""
    value: float | None
    """In the goal's own unit."""
    launches: int = 0
    out: bool = False
    """Whether it is beyond a limit."""
    best: bool = False
    """Whether it is the tuned stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One panel: two settings, one, or none."""

    title: str
    """What is fixed in it."""
    across: Knob | None
    down: Knob | None
    spots: Mapping[tuple[str, str], Spot]
    """By the values of ``across`` and ``down``, empty text where there is none."""


def facets(tuning: Tuning, found: Tuned) -> tuple[Facet, ...]:
    """Return the panels: the two numeric settings with the most values span each, one for every value of the rest.

    Those in which nothing was launched are left out, as long as something was anywhere. A setting that means
    nothing in a panel does not span it.
    """
    tuning = replace(tuning, knobs=tuple(_raced(tuning, found)))
    spots = dict(_spots(tuning, found))
    axes = _axes(tuning)
    others = [i for i in range(len(tuning.knobs)) if i not in axes]
    panels: list[Facet] = []
    for fixed in product(*((*tuning.knobs[i].values, None) for i in others)):
        inside = {
            values: spot
            for values, spot in spots.items()
            if all(values[i] == value for i, value in zip(others, fixed, strict=True))
        }
        if inside:
            panels.append(_facet(tuning, axes, others, fixed, inside))
    seen = [panel for panel in panels if any(spot.launches for spot in panel.spots.values())]
    return tuple(seen or panels)


def _raced(tuning: Tuning, found: Tuned) -> Iterator[Knob]:
    """Yield the knobs with the values beyond their usual ones that were launched."""
    for d, knob in enumerate(tuning.knobs):
        launched = {one.values[d] for one in found.responses}
        extra = {*knob.below, *knob.above} - launched
        yield replace(knob, values=tuple(value for value in knob.ladder if value not in extra))


def _axes(tuning: Tuning) -> list[int]:
    """Return the numbers of the knobs that span the panels, at most two."""
    by_size = sorted(
        range(len(tuning.knobs)), key=lambda i: (not tuning.knobs[i].numeric, -len(tuning.knobs[i].values), i)
    )
    return sorted(by_size[:2])


def _facet(
    tuning: Tuning,
    axes: list[int],
    others: list[int],
    fixed: tuple[str | None, ...],
    inside: Mapping[tuple[str | None, ...], Spot],
) -> Facet:
    used = [i for i in axes if any(values[i] is not None for values in inside)]
    # the longer one across
    used.sort(key=lambda i: -len(tuning.knobs[i].values))
    across, down = (*used, None, None)[:2]
    names = [knob.name for knob in tuning.knobs]
    title = ", ".join(
        f"{tuning.knobs[i].server + '.' if names.count(names[i]) > 1 else ''}{names[i]}={value}"
        for i, value in zip(others, fixed, strict=True)
        if value is not None
    )
    return Facet(
        title=title,
        across=None if across is None else tuning.knobs[across],
        down=None if down is None else tuning.knobs[down],
        spots={
            ("" if across is None else values[across] or "", "" if down is None else values[down] or ""): spot
            for values, spot in inside.items()
        },
    )


def _spots(tuning: Tuning, found: Tuned) -> Iterator[tuple[tuple[str | None, ...], Spot]]:
    """Yield every configuration that lies on the grid, with its values."""
    measured = {one.stack: one for one in found.responses}
    out = {one.stack for one in found.infeasible}
    for path, values in tuning.settings.items():
        if any(v is not None and v not in knob.values for knob, v in zip(tuning.knobs, values, strict=True)):
            continue
        one = measured.get(path)
        yield (
            values,
            Spot(
                stack=path,
                relative=None if one is None else one.relative,
                value=None if one is None else one.value,
                launches=0 if one is None else one.launches,
                out=path in out,
                best=path == found.stack,
            ),
        )
