"""From a number and its limits to a finding."""

from __future__ import annotations

from collections.abc import Callable

from ..model.verdict import Effect, Finding

__all__ = ["cores_named", "count", "judge", "percent"]


def percent(share: float) -> str:
    """Write 0.034 as ``3.4 %``."""
    return f"{100 * share:.3g} %"


def count(number: float) -> str:
    """Write a number of things."""
    return f"{number:,.0f}".replace(",", " ")


def cores_named(cores: tuple[int, ...]) -> str:
    """Name cores: ``core 3``, ``cores 0, 1``."""
    return ("core " if len(cores) == 1 else "cores ") + ", ".join(map(str, cores))


def judge(
    check: str,
    value: float,
    *,
    warns: float | None = None,
    redoes: float | None = None,
    invalidates: float | None = None,
    seen: str,
    remedy: str,
    unit: Callable[[float], str] = percent,
) -> Finding | None:
    """Return a finding with the gravest effect whose limit ``value`` exceeds; None when it exceeds none."""
    limits = (
        (Effect.INVALIDATES, invalidates),
        (Effect.REDOES, redoes),
        (Effect.WARNS, warns),
    )
    for effect, limit in limits:
        if limit is not None and value > limit:
            threshold = f"at most {unit(limit)}" if limit else "none"
            return Finding(check=check, effect=effect, seen=seen, threshold=threshold, remedy=remedy)
    return None
