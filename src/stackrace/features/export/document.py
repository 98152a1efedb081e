"""One JSON document about one export; ``stackrace export --schema`` prints what its members mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...base.codec import FLAT, LEFT_OUT, Form, readable
from ...base.numbers import Interval
from .equivalence import Proof, Verdict

if TYPE_CHECKING:
    from ...race.results.race import Race
    from .export import Export


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofDocument:
    """What was done with the exported files, all of it with success, and what they delivered."""

    proof: Proof
    verdict: Verdict | None
    """Null where nothing was raced."""
    difference: float | None
    """The share that does not matter: 0.05 is 5 %."""
    ratio: Interval | None
    """Throughput of the exported files over that of the original."""
    blocks: int
    """How many had valid slices of both."""
    could_have_seen: float | None
    """The smallest difference within which the limits lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportDocument:
    """One export, as `stackrace export --json` prints it."""

    schema: Literal["export-1"] = "export-1"
    """Name and version of this format."""
    stack: str
    """Its path."""
    race: str | None
    """The id of the race behind it; null where nothing was measured."""
    folder: str
    """Where the files were written."""
    files: tuple[str, ...]
    """Their paths below the folder."""
    name: str
    """Of the units and folders."""
    base: str
    """The folder on the machine that it is for; app, venv and deploy lie in it."""
    user: str
    """Its processes' user, and group."""
    listen: str
    """ADDRESS:PORT of the front."""
    trusted_proxies: tuple[str, ...]
    """Addresses whose X-Forwarded-* is believed."""
    proof: ProofDocument | None
    """Null without --prove."""


_FORM = Form(names={ProofDocument: {"proof": FLAT}, Proof: {"equivalence": LEFT_OUT}})


def schema() -> str:
    """Return the JSON Schema of ``export_document``."""
    from ...base.json_schema import json_schema

    return json_schema(ExportDocument, _FORM, "export-1")


def export_document(
    export: Export, race: Race | None, folder: Path, files: Iterable[str], proof: Proof | None
) -> dict[str, Any]:
    """Return the document of an ``export`` to ``folder``; ``race`` is the one behind it."""
    target = export.target
    return readable(
        ExportDocument(
            stack=export.stack.path,
            race=None if race is None else race.id,
            folder=str(folder),
            files=tuple(sorted(files)),
            name=target.name,
            base=str(target.base),
            user=target.user,
            listen=f"{target.host}:{target.port}",
            trusted_proxies=target.proxies,
            proof=None if proof is None else _proof(proof),
        ),
        _FORM,
    )


def _proof(proof: Proof) -> ProofDocument:
    same = proof.equivalence
    return ProofDocument(
        proof=proof,
        verdict=None if same is None else same.verdict,
        difference=None if same is None else same.difference,
        ratio=None if same is None else same.ratio,
        blocks=0 if same is None else same.blocks,
        could_have_seen=None if same is None else same.could_have_seen,
    )
