"""The standing of one level as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..base.numbers import NOTHING, count, mebibytes, milliseconds, number
from ..race.results.standing import Level, Row
from . import figures
from .characters import bar
from .sheet import FILES, Column, Medium, Table, Tone

_BAR = 10
READABLE = 30
"""Width to which a path may be folded before a column is left out."""

_NOT_ON_PAGES = (Medium.SCREEN, Medium.TEXT)

MARK = "current"
"""Mark beside the project's current stack."""


def level_table(
    level: Level,
    *,
    void: bool = False,
    current: str = "",
    priority: int = 0,
    names: Mapping[str, str] | None = None,
) -> Table:
    """Return a line per stack, best first, and the stack ``current`` marked; in a ``void`` race none stands out.

    Stacks with an entry in ``names`` stand there by that name.
    """
    rows, named = level.rows, names or {}
    first = tuple(row.tier == 1 and not void for row in rows)
    most = max((row.ratio.high or row.ratio.value for row in rows), default=1.0)
    errors = any(row.errors for row in rows)
    return Table(priority=priority, columns=(
        Column(title="tier", cells=_cells_of(rows, figures.tier), once=True),
        Column(title="place", cells=_cells_of(rows, lambda row: _rank_text(row.rank)), media=FILES),
        Column(title="stack", left=True, fold_to=READABLE,
               cells=_cells_of(rows, lambda row: named.get(row.stack, row.stack)),
               tones=tuple(Tone.STRONG if leads else Tone.PLAIN for leads in first),
               notes=_marks((row.stack for row in rows), current)),
        Column(title="requests/s", short="req/s", cells=_cells_of(rows, _rate)),
        Column(title="against the leader", short="vs leader, 95 %", left=True, media=_NOT_ON_PAGES,
               cells=_cells_of(rows, lambda row: figures.ratio(row.ratio)),
               notes=_ratio_limits(rows)),
        Column(title="", keep=9, left=True, media=(Medium.SCREEN,),
               cells=_cells_of(rows, lambda row: bar(row.ratio, most, _BAR)),
               tones=tuple(Tone.GOOD if leads else Tone.OTHER for leads in first)),
        _quantile(rows, "p50", keep=6),
        *_without_network(rows),
        _quantile(rows, "p90", media=(Medium.PAGE,)),
        _percentile(rows, "p99", keep=10, notes_keep=3),
        _percentile(rows, "p999", "p99.9", media=(Medium.PAGE,)),
        _quantile(rows, "max", "longest", keep=5),
        Column(title="errors", keep=0 if errors else 2, cells=_cells_of(rows, lambda row: count(row.errors)),
               tones=tuple(Tone.WRONG if row.errors else Tone.PLAIN for row in rows)),
        Column(title="requests", cells=_cells_of(rows, lambda row: count(row.requests)), media=(Medium.PAGE,)),
        Column(title="CPU ms/request", short="CPU ms/req", keep=8, cells=_cells_of(rows, _cpu)),
        Column(title="by hop", keep=1, left=True, tone=Tone.ASIDE, cells=_cells_of(rows, _by_hop)),
        Column(title="memory MiB", short="MiB", keep=7, cells=_cells_of(rows, _memory), media=_NOT_ON_PAGES),
        Column(title="launches", keep=1, cells=_cells_of(rows, lambda row: str(row.launches))),
        Column(title="slices", cells=_cells_of(rows, lambda row: str(row.slices)), media=(Medium.PAGE,)),
        Column(title="ready s", cells=_cells_of(rows, _ready), media=(Medium.PAGE,)),
    ))  # fmt: skip


def _marks(stacks: Iterable[str], current: str) -> tuple[str, ...]:
    return tuple(MARK if stack == current else "" for stack in stacks) if current else ()


def _cells_of(rows: Sequence[Row], cell: Callable[[Row], str]) -> tuple[str, ...]:
    return tuple(cell(row) for row in rows)


def _quantile(
    rows: Sequence[Row], name: str, title: str = "", *, keep: int = 0, media: tuple[Medium, ...] = tuple(Medium)
) -> Column:
    cells = _cells_of(rows, lambda row: figures.quantile(row.latency, name))
    return Column(title=f"{title or name} ms", short=title or name, cells=cells, keep=keep, media=media)


def _without_network(rows: Sequence[Row]) -> Iterator[Column]:
    if any(row.p50_without_network_s is not None for row in rows):
        cells = _cells_of(rows, _p50_without_network)
        yield Column(title="p50 ms without the network", short="p50 w/o network", keep=4, cells=cells)


def _ratio_limits(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the limits of each row except the leader's; "–" if only others have some."""
    absent = NOTHING if any(figures.ratio_limits(row.ratio) for row in rows) else ""
    return tuple(figures.ratio_limits(row.ratio) or (absent if row.ratio.low is None else "") for row in rows)


def _percentile(
    rows: Sequence[Row], name: str, title: str = "", *, keep: int = 0, notes_keep: int = 0,
    media: tuple[Medium, ...] = tuple(Medium),
) -> Column:  # fmt: skip
    return Column(
        title=f"{title or name} ms", short=title or name, keep=keep, notes_keep=notes_keep, media=media,
        cells=_cells_of(rows, lambda row: figures.percentile(row, name)),
        notes=_cells_of(rows, lambda row: figures.percentile_limits(row, name)),
    )  # fmt: skip


def _rate(row: Row) -> str:
    return number(row.throughput_per_s.value)


def _cpu(row: Row) -> str:
    return number(sum(row.cpu_ms_per_request.values())) if row.cpu_ms_per_request else NOTHING


def _by_hop(row: Row) -> str:
    costs = row.cpu_ms_per_request if len(row.cpu_ms_per_request) > 1 else {}
    return ", ".join(f"{hop} {number(ms)}" for hop, ms in costs.items())


def _memory(row: Row) -> str:
    return mebibytes(sum(row.memory_bytes.values()))


def _ready(row: Row) -> str:
    return NOTHING if row.ready_s is None else number(row.ready_s)


def _p50_without_network(row: Row) -> str:
    if row.p50_without_network_s is None:
        return NOTHING
    value = milliseconds(row.p50_without_network_s)
    return f"≥ {value}" if "p50" in row.latency.censored else value


def _rank_text(rank: tuple[int, int]) -> str:
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"
