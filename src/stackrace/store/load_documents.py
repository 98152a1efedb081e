"""The documented shapes of a load and of what came back, and both directions for each."""

from __future__ import annotations

from typing import TypedDict

from ..model.load import Counts, Load, Quantiles, SeriesBin
from .real import Real, real

__all__ = [
    "BinDocument",
    "CountsDocument",
    "LoadDocument",
    "QuantilesDocument",
    "bin_document",
    "bin_from",
    "counts_document",
    "counts_from",
    "load_document",
    "load_from",
    "quantiles_document",
    "quantiles_from",
]


class LoadDocument(TypedDict):
    """``duration_s`` or ``requests`` is null, whichever does not bound the load."""

    concurrency: int
    keep_alive: bool
    duration_s: Real | None
    requests: int | None
    timeout_s: Real


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


def load_document(load: Load) -> LoadDocument:
    """Return ``load`` as a document."""
    return {
        "concurrency": load.concurrency,
        "keep_alive": load.keep_alive,
        "duration_s": None if load.duration_s is None else real(load.duration_s),
        "requests": load.requests,
        "timeout_s": real(load.timeout_s),
    }


def load_from(document: LoadDocument) -> Load:
    """Undo ``load_document``."""
    duration_s = document["duration_s"]
    return Load(
        concurrency=document["concurrency"],
        keep_alive=document["keep_alive"],
        duration_s=None if duration_s is None else float(duration_s),
        requests=document["requests"],
        timeout_s=float(document["timeout_s"]),
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
