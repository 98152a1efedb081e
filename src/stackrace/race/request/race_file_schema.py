"""JSON Schema of race.toml, for editors that complete and check its keys."""

from __future__ import annotations

import json
from typing import Any

from ...base.json_schema import docstrings
from ...extensions import RequestPart, declared, load
from .request import RaceRequest, WorkloadRequest
from .tables import RaceFileTable


def schema() -> str:
    """Return the schema, as text that ends with a newline.

    Keys are described by the fields of the request that they set. Stack paths, and keys that contradict each other,
    are checked only when a race file is read.
    """
    parts = [load(part.import_path) for part in declared(RequestPart)]
    about = {
        name: text for kind in (*parts, WorkloadRequest, RaceRequest) for name, text in docstrings(kind).items()
    }
    made = RaceFileTable.model_json_schema()
    for table in (made, *made["$defs"].values()):
        _describe(table, about)
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:stackrace:race-file:1",
        **made,
        "title": "Race file of Stackrace, race.toml",
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


_FIELDS = {
    "budget": "budget_s", "slice": "slice_s", "timeout": "timeout_s", "memory": "memory_bytes",
    "env": "environment", "env_file": "env_files", "copy_limit": "most_copied_bytes",
    "requests": "run_requests", "duration": "run_s",
}  # fmt: skip
"""Fields of the request by keys with another name."""


def _describe(table: dict[str, Any], about: dict[str, str]) -> None:
    table.pop("title", None)
    for key, shape in table.get("properties", {}).items():
        shape.pop("title", None)
        if text := about.get(_FIELDS.get(key, key)):
            shape["description"] = text
