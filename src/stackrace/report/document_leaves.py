"""The leaves of the JSON document: numbers, loads and latency distributions."""

from __future__ import annotations

import math

from ..model.load import Load, Quantiles

__all__ = ["latency", "load", "whole"]


def whole(value: float | None) -> float | None:
    """Return ``value``, or None for what JSON cannot hold."""
    return value if value is not None and math.isfinite(value) else None


def load(one: Load) -> dict[str, object]:
    """Return how requests were sent."""
    return {
        "concurrency": one.concurrency,
        "keep_alive": one.keep_alive,
        "duration_s": one.duration_s,
        "requests": one.requests,
        "timeout_s": one.timeout_s,
        "rate_per_s": whole(one.rate_per_s),
        "poisson": one.poisson,
        "connect_timeout_s": whole(one.connect_timeout_s),
        "requests_per_connection": one.requests_per_connection,
    }


def latency(quantiles: Quantiles) -> dict[str, object]:
    """Return a latency distribution in seconds; quantiles named in ``censored`` are lower bounds."""
    return {
        "count": quantiles.count,
        "mean_s": whole(quantiles.mean),
        "p50_s": whole(quantiles.p50),
        "p90_s": whole(quantiles.p90),
        "p99_s": whole(quantiles.p99),
        "p999_s": whole(quantiles.p999),
        "max_s": whole(quantiles.max),
        "censored": sorted(quantiles.censored),
    }
