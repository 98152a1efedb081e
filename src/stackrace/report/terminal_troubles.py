"""What failed, was refused or warned about, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from ..model.race import Race
from ..model.standing import Standing
from ..model.verdict import Effect
from .clean import one_line, tail
from .complaints import Complaint, complaints, refused
from .setbacks import Setback, setbacks

__all__ = ["troubles"]

LOG_LINES = 6
_MARK = {Effect.INVALIDATES: ("✗", "red"), Effect.REDOES: ("↻", "yellow"), Effect.WARNS: ("!", "yellow")}


def troubles(race: Race, standing: Standing) -> RenderableType | None:
    """Return how much was refused, setbacks with their logs' tails, complaints with remedies; None without any."""
    out = refused(race)
    parts: list[RenderableType] = [Text(one_line(out))] if out else []
    parts += [part for setback in setbacks(race, standing) for part in _setback(setback)]
    parts += [part for complaint in complaints(race, standing) for part in _complaint(complaint)]
    return Group(*parts) if parts else None


def _setback(setback: Setback) -> Iterator[RenderableType]:
    line = Text("✗ ", style="red")
    line.append(one_line(setback.stack), style="bold default")
    line.append(f" {setback.sentence}: {one_line(setback.message)}", style="default")
    yield line
    for text in tail(setback.failure.log, LOG_LINES):
        yield Text(f"    {text}", style="dim", no_wrap=True, overflow="ellipsis")


def _complaint(complaint: Complaint) -> Iterator[RenderableType]:
    mark, style = _MARK[complaint.effect]
    line = Text(f"{mark} ", style=style)
    line.append(one_line(complaint.check), style="bold default")
    line.append(f": {complaint.headline}", style="default")
    if complaint.where:
        line.append(f" on {one_line(complaint.where)}", style="default")
    if complaint.seen:
        seen, threshold = one_line(complaint.seen), one_line(complaint.threshold)
        line.append(f" ({seen}; threshold: {threshold})", style="default")
    yield line
    if complaint.remedy:
        yield Text(f"  → {one_line(complaint.remedy)}")
