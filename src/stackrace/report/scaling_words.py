"""Growth of throughput with the connections, in words and figures for all reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..base.numbers import NOTHING, Figure, Interval, coefficient, connections, count, number, percent
from ..base.text import few
from ..race.results.standing import Standing
from ..stats.values import ScalingCurve, Unfit, UnfitKind
from . import figures
from .level_table import READABLE
from .sheet import Block, Column, Medium, Paragraph, Section, Table, Tone

_TITLE = "How throughput grows with the connections"

_WORDS = (
    "Throughput stops growing at the smallest load level that is not significantly below the best. "
    "λ is the throughput of one connection, σ the share that must wait, κ the cost of coordination, "
    "N* the connections beyond which throughput falls (Universal Scalability Law)."
)

_HEADER = ("stack", "stops growing at", "λ per s", "σ", "κ", "N*")


_WITHOUT_LAW = 2

_MOST_NAMED = 3


def scaling_sections(standing: Standing) -> Iterator[Section]:
    """Yield the section about the growth of throughput, if it is known for any stack."""
    if curves := _curves_if_fitted(standing.scaling):
        yield Section(title=_TITLE, blocks=tuple(_scaling(curves)))


def _scaling_table(curves: Sequence[ScalingCurve]) -> Table:
    rows = [_cells(curve) for curve in curves]
    fitted = any(curve.law for curve in curves)
    titles = _HEADER if fitted else _HEADER[:_WITHOUT_LAW]
    return Table(
        columns=tuple(
            Column(
                title=title,
                cells=tuple(row[index] for row in rows),
                left=index == 0,
                fold_to=0 if index else READABLE,
                keep=0 if index < _WITHOUT_LAW else index,
            )
            for index, title in enumerate(titles)
        )
    )


def _scaling(curves: Sequence[ScalingCurve]) -> Iterator[Block]:
    yield Paragraph(text=_WORDS, media=(Medium.TEXT, Medium.PAGE))
    yield _scaling_table(curves)
    yield from (Paragraph(text=text, tone=Tone.ASIDE) for text in unfits(curves))


def _curves_if_fitted(curves: Sequence[ScalingCurve]) -> tuple[ScalingCurve, ...]:
    return tuple(curves) if any(curve.knee is not None or curve.law is not None for curve in curves) else ()


def _named(curve: ScalingCurve) -> str:
    on = f" on {curve.workload}" if curve.workload else ""
    return curve.stack + on + ("" if curve.keep_alive else ", a connection per request")


def knee(curve: ScalingCurve) -> str:
    """Return the point where throughput stops growing, in a few words."""
    if curve.knee is None:
        return "too few launches to say where throughput stops growing"
    if curve.knee == curve.levels[-1]:
        return f"throughput still grows at {curve.knee} connections"
    return f"throughput stops growing at {connections(curve.knee)}"


def _cells(curve: ScalingCurve) -> tuple[str, ...]:
    """Return a row under ``_HEADER``; "–" for unknown values, "> 100" if it grows to the end."""
    if curve.knee is None:
        stops = NOTHING
    else:
        stops = f"> {curve.knee}" if curve.knee == curve.levels[-1] else str(curve.knee)
    law = curve.law
    if law is None:
        return (_named(curve), stops, *[NOTHING] * 4)
    peak = _with_limits(law.peak, count) if law.peak else "none"
    return (
        _named(curve), stops, _with_limits(law.single_per_s, number),
        _with_limits(law.contention, number), _with_limits(law.coherency, coefficient), peak,
    )  # fmt: skip


def unfits(curves: Sequence[ScalingCurve]) -> tuple[str, ...]:
    """Return why laws were not fitted: a reason shared by all curves once, others with their curves."""
    reasons: dict[str, list[str]] = {}
    for curve in curves:
        if curve.unfit is not None:
            reasons.setdefault(_unfit(curve.unfit), []).append(_named(curve))
    if len(reasons) == 1 and len(next(iter(reasons.values()))) == len(curves):
        return tuple(reasons)
    return tuple(f"{few(names, _MOST_NAMED)}: {reason}" for reason, names in reasons.items())


def _unfit(why: Unfit) -> str:
    match why.kind:
        case UnfitKind.FEW_LEVELS:
            return f"A scaling curve needs {why.levels_needed} load levels or more; {why.levels} had results."
        case UnfitKind.DIVERGED:
            return "The fit of the scaling law did not converge."
    off = f"the levels are {percent(why.residual or 0.0)} off its best curve"
    return f"Throughput does not follow the scaling law: {off}."


def _with_limits(interval: Interval, figure: Figure) -> str:
    text = figures.limits(interval, figure)
    return figure(interval.value) + (f" ({text})" if text else "")
