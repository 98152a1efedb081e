"""One JSON document about one export; ``schema/export-1.schema.json`` is its contract."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.interval import Interval
from ...stats.values.equivalence import Proof

if TYPE_CHECKING:
    from .target import Target

__all__ = ["SCHEMA", "VERSION", "export_document"]

VERSION = "export-1"
SCHEMA = Path(__file__).parent / "schema" / "export-1.schema.json"
"""The published schema of this version."""


def export_document(
    stack: str, target: Target, folder: Path, files: Iterable[str], *, race: str | None, proof: Proof | None
) -> dict[str, object]:
    """Return the document of an export of ``stack`` to ``folder``; ``race`` is the id of the race behind it."""
    return {
        "schema": VERSION,
        "stack": stack,
        "race": race,
        "folder": str(folder),
        "files": sorted(files),
        "name": target.name,
        "base": str(target.base),
        "user": target.user,
        "listen": f"{target.host}:{target.port}",
        "trusted_proxies": list(target.proxies),
        "proof": None if proof is None else _proof(proof),
    }


def _proof(proof: Proof) -> dict[str, object]:
    same = proof.equivalence
    return {
        "units_verified": proof.units_verified,
        "checkers": list(proof.checkers),
        "questions": proof.questions,
        "ready_s": proof.ready_s,
        "container_healthy": proof.container_healthy,
        "reloads": [
            {"hop": one.hop, "asked": one.asked, "lost": one.lost, "why": one.why} for one in proof.reloads
        ],
        "verdict": None if same is None else same.verdict.value,
        "difference": None if same is None else same.difference,
        "ratio": None if same is None or same.ratio is None else _interval(same.ratio),
        "blocks": 0 if same is None else same.blocks,
        "could_have_seen": None if same is None else same.could_have_seen,
    }


def _interval(interval: Interval) -> dict[str, object]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}
