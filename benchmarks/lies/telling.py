"""Faults that are a lie of the liar's, told in a race of its own."""

from __future__ import annotations

from .fault import Fault, How, Told, in_race
from .racing import liar, runs


def told(
    lie: str,
    does: str,
    *expects: str,
    how: How = How.REAL,
    workers: int = 1,
    **options: object,
) -> Fault:
    """Return the fault of racing a liar that tells ``lie``; ``options`` are those of ``runs``."""
    stack = liar(lie) if workers == 1 else liar(lie, workers=workers)
    return Fault(
        name=lie,
        does=does,
        expects=expects,
        how=how,
        inject=lambda: in_race(runs(stack, **options)),  # type: ignore[arg-type]
        told=Told(stack=stack, options=tuple(options.items())),
    )
