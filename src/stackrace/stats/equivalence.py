"""Whether two things are as fast as each other: both limits of their ratio within what does not matter."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.numbers import Interval
from .ratio import Contrast, ratios
from .values.equivalence import Verdict

__all__ = ["LOOKS", "looked_at", "ratio_limits"]

LOOKS = (4, 6, 9, 13, 19, 28, 40, 57, 80, 113, 160)
"""The numbers of blocks after which it may be decided."""

_ALPHA = 0.05
"""The chance, over all looks, to call two equivalent that differ by as much as matters."""


def ratio_limits(differences: Sequence[float]) -> Interval:
    """Return the ratio with the limits that one look may use: exp(m ± t·√(v/n)).

    ``differences`` are ln(this) − ln(that), one for each block that has both, at least one and no gaps. t is the
    quantile at 1 − ``_ALPHA``/K of each side, for K looks (Bonferroni), so that over all looks together two
    one-sided tests call what differs by δ or more equivalent in at most ``_ALPHA`` of all proofs. From two blocks
    on the limits are numbers, below they are None.

    Source: Schuirmann 1987, A comparison of the two one-sided tests procedure and the power approach for assessing
    the equivalence of average bioavailability, Journal of Pharmacokinetics and Biopharmaceutics 15; Dunn 1961.
    """
    contrast = Contrast(this="this", that="that", differences=tuple(differences))
    return ratios([contrast], confidence=1 - 2 * _ALPHA / len(LOOKS))[0]


def looked_at(differences: Sequence[float], allowed: float) -> tuple[Verdict, int]:
    """Return what the planned looks say of ``differences``, and how many of these say it: all before the first.

    ``differences`` are ln(this) − ln(that), block by block, without gaps. ``allowed`` is the relative difference
    that does not matter, above 0. Limits within it mean equivalent at once. Limits beyond it raise an alarm, and
    the blocks after it, on their own, must say the same at a later look: a few blocks that a machine's change of
    speed put side by side would otherwise pass for a difference.
    """
    alarm, look = 0, len(differences)
    for look in (each for each in LOOKS if each <= len(differences)):
        side = _side(differences[:look], allowed)
        if side == 0:
            return Verdict.EQUIVALENT, look
        if alarm and side and _side(differences[alarm:look], allowed) == side:
            return Verdict.DIFFERENT, look
        alarm = alarm or (look if side else 0)
    return Verdict.OPEN, look


def _side(differences: Sequence[float], allowed: float) -> int | None:
    """Return 0 where both limits lie within what is allowed, 1 where above, −1 where below, else None."""
    ratio = ratio_limits(differences)
    if ratio.low is None or ratio.high is None:
        return None
    least, most = 1 / (1 + allowed), 1 + allowed
    if least <= ratio.low and ratio.high <= most:
        return 0
    return 1 if ratio.low > most else -1 if ratio.high < least else None
