"""The documented shapes of a load and of what came back, and both directions for each.

What a later version added to a shape is not required of a document: stores keep what earlier ones wrote.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ..model.load import Counts, Load, Quantiles, SeriesBin, TargetResult
from .real import Real, real

__all__ = [
    "BinDocument",
    "CountsDocument",
    "LoadDocument",
    "QuantilesDocument",
    "TargetDocument",
    "bin_document",
    "bin_from",
    "counts_document",
    "counts_from",
    "load_document",
    "load_from",
    "quantiles_document",
    "quantiles_from",
    "target_document",
    "target_from",
]


class LoadDocument(TypedDict):
    """``duration_s`` or ``requests`` is null, whichever does not bound the load; ``seed`` is in decimal digits."""

    concurrency: int
    keep_alive: bool
    duration_s: Real | None
    requests: int | None
    timeout_s: Real
    rate_per_s: NotRequired[Real | None]
    poisson: NotRequired[bool]
    seed: NotRequired[str]
    connect_timeout_s: NotRequired[Real | None]
    requests_per_connection: NotRequired[int | None]


class CountsDocument(TypedDict):
    """``failed`` is keyed by stage."""

    scheduled: int
    ok: int
    non2xx: int
    failed: dict[str, int]
    timed_out: int
    in_flight: int
    unsent: int


class QuantilesDocument(TypedDict):
    """Seconds; ``censored`` holds the names of the quantiles that are lower bounds, sorted."""

    count: int
    mean: Real
    p50: Real
    p90: Real
    p99: Real
    p999: Real
    max: Real
    censored: list[str]


class BinDocument(TypedDict):
    """One bin of the time series; times in seconds."""

    start_s: Real
    ok: int
    errors: int
    in_flight: int
    p50_s: Real
    p99_s: Real


class TargetDocument(TypedDict):
    """The requests of one URL; ``name`` is method and path."""

    name: str
    counts: CountsDocument
    latency: QuantilesDocument


def load_document(load: Load) -> LoadDocument:
    """Return ``load`` as a document."""
    return {
        "concurrency": load.concurrency,
        "keep_alive": load.keep_alive,
        "duration_s": _real_or_none(load.duration_s),
        "requests": load.requests,
        "timeout_s": real(load.timeout_s),
        "rate_per_s": _real_or_none(load.rate_per_s),
        "poisson": load.poisson,
        "seed": str(load.seed),
        "connect_timeout_s": _real_or_none(load.connect_timeout_s),
        "requests_per_connection": load.requests_per_connection,
    }


def load_from(document: LoadDocument) -> Load:
    """Undo ``load_document``."""
    return Load(
        concurrency=document["concurrency"],
        keep_alive=document["keep_alive"],
        duration_s=_float_or_none(document["duration_s"]),
        requests=document["requests"],
        timeout_s=float(document["timeout_s"]),
        rate_per_s=_float_or_none(document.get("rate_per_s")),
        poisson=document.get("poisson", False),
        seed=int(document.get("seed", "0")),
        connect_timeout_s=_float_or_none(document.get("connect_timeout_s")),
        requests_per_connection=document.get("requests_per_connection"),
    )


def counts_document(counts: Counts) -> CountsDocument:
    """Return ``counts`` as a document."""
    return {
        "scheduled": counts.scheduled,
        "ok": counts.ok,
        "non2xx": counts.non2xx,
        "failed": dict(counts.failed),
        "timed_out": counts.timed_out,
        "in_flight": counts.in_flight,
        "unsent": counts.unsent,
    }


def counts_from(document: CountsDocument) -> Counts:
    """Undo ``counts_document``."""
    return Counts(**document)


def quantiles_document(quantiles: Quantiles) -> QuantilesDocument:
    """Return ``quantiles`` as a document."""
    return {
        "count": quantiles.count,
        "mean": real(quantiles.mean),
        "p50": real(quantiles.p50),
        "p90": real(quantiles.p90),
        "p99": real(quantiles.p99),
        "p999": real(quantiles.p999),
        "max": real(quantiles.max),
        "censored": sorted(quantiles.censored),
    }


def quantiles_from(document: QuantilesDocument) -> Quantiles:
    """Undo ``quantiles_document``."""
    return Quantiles(
        count=document["count"],
        mean=float(document["mean"]),
        p50=float(document["p50"]),
        p90=float(document["p90"]),
        p99=float(document["p99"]),
        p999=float(document["p999"]),
        max=float(document["max"]),
        censored=frozenset(document["censored"]),
    )


def bin_document(one: SeriesBin) -> BinDocument:
    """Return one bin as a document."""
    return {
        "start_s": real(one.start_s),
        "ok": one.ok,
        "errors": one.errors,
        "in_flight": one.in_flight,
        "p50_s": real(one.p50_s),
        "p99_s": real(one.p99_s),
    }


def bin_from(document: BinDocument) -> SeriesBin:
    """Undo ``bin_document``."""
    return SeriesBin(
        start_s=float(document["start_s"]),
        ok=document["ok"],
        errors=document["errors"],
        in_flight=document["in_flight"],
        p50_s=float(document["p50_s"]),
        p99_s=float(document["p99_s"]),
    )


def target_document(target: TargetResult) -> TargetDocument:
    """Return one URL's requests as a document."""
    return {
        "name": target.name,
        "counts": counts_document(target.counts),
        "latency": quantiles_document(target.latency),
    }


def target_from(document: TargetDocument) -> TargetResult:
    """Undo ``target_document``."""
    return TargetResult(
        name=document["name"],
        counts=counts_from(document["counts"]),
        latency=quantiles_from(document["latency"]),
    )


def _real_or_none(value: float | None) -> Real | None:
    return None if value is None else real(value)


def _float_or_none(value: Real | None) -> float | None:
    return None if value is None else float(value)
