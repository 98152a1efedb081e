"""The leaves of the JSON document: numbers, loads and latency distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from ..model.load import Load, Quantiles
from .clean import printable

__all__ = ["latency", "load", "plain", "record", "whole"]


def plain(value: object) -> object:
    """Return what a record of the model holds as JSON: text made printable, other than finite numbers null."""
    if isinstance(value, Load):
        return load(value)
    if is_dataclass(value):
        return record(value)
    if isinstance(value, Mapping):
        return {printable(key): plain(held) for key, held in value.items()}
    if isinstance(value, tuple):
        return [plain(held) for held in value]
    if isinstance(value, str):
        return printable(value)
    return whole(value) if isinstance(value, float) else value


def record(value: object) -> dict[str, object]:
    """Return a dataclass by the names of its fields."""
    assert is_dataclass(value)
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


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
