"""Finds the one race a prefix of an id means, or says which ones are near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from ..base.errors import StoreError

__all__ = ["NEAR", "the_one"]

NEAR = 10
"""How many ids an error lists at most."""


def the_one(prefix: str, ids: Sequence[str], names: Mapping[str, str] | None = None) -> str:
    """Return the only one of ``ids`` (newest first) that starts with ``prefix``, capitals or not.

    ``names`` maps pretty names to ids: one of them, written out, is as good.

    >>> the_one('4X', ['4xk20z0000000', '9a00000000000'])
    '4xk20z0000000'
    """
    wanted = prefix.strip().lower()
    if names and wanted in names:
        return names[wanted]
    if wanted in ids:
        return wanted
    matching = [race_id for race_id in ids if race_id.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    if not ids:
        raise StoreError("no race is stored yet; make one with: stackrace run")
    if matching:
        raise StoreError(f"{len(matching)} ids begin with {prefix!r}; give more of it", detail=_listed(matching))
    raise StoreError(
        f"no race's id begins with {prefix!r}; did you mean one of these?", detail=_listed(_near(wanted, ids))
    )


def _near(wanted: str, ids: Sequence[str]) -> Sequence[str]:
    """Return ids that resemble ``wanted`` where it has characters, else the newest ones."""
    heads = {race_id[: len(wanted)]: race_id for race_id in reversed(ids)}
    close = get_close_matches(wanted, heads, n=NEAR)
    return [heads[head] for head in close] or ids


def _listed(ids: Sequence[str]) -> str:
    shown = list(ids[:NEAR])
    return "\n".join([*shown, f"and {len(ids) - NEAR} more"] if len(ids) > NEAR else shown)
