"""One JSON document about one export; ``stackrace export --schema`` prints what its members mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...base.codec import FLAT, LEFT_OUT, Form, readable
from .equivalence import Equivalence, Proof
from .target import Target

if TYPE_CHECKING:
    from .export import Export


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
    target: Target
    listen: str
    """ADDRESS:PORT of the front."""
    proof: Proof | None
    """Null without --prove."""


_FORM = Form(
    names={
        Target: {"proxies": "trusted_proxies", **dict.fromkeys(("host", "port", "projects"), LEFT_OUT)},
        ExportDocument: {"target": FLAT},
        Proof: {"equivalence": FLAT},
        Equivalence: {"level": LEFT_OUT},
    }
)


def schema() -> str:
    """Return the JSON Schema of ``export_document``."""
    from ...base.json_schema import json_schema

    return json_schema(ExportDocument, _FORM, "export-1")


def export_document(export: Export, folder: Path, files: Iterable[str], proof: Proof | None) -> dict[str, Any]:
    """Return the document of an ``export`` to ``folder``, the paths of its ``files`` being below that."""
    target = export.target
    return readable(
        ExportDocument(
            stack=export.stack.path,
            race=None if export.race is None else export.race.id,
            folder=str(folder),
            files=tuple(sorted(files)),
            target=target,
            listen=f"{target.host}:{target.port}",
            proof=proof,
        ),
        _FORM,
    )
