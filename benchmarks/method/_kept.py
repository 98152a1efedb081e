"""What experiments saw, kept from run to run: races take hours, and no figure needs them all in one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SEEN = Path(__file__).with_name("seen")
"""One file of JSON lines for each experiment, oldest first."""


class Kept:
    """The rows of one experiment, those of earlier runs first. Each is written as soon as it is added."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        self.rows: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep ``row`` with the moment (UTC)."""
        whole = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **row}
        self.rows.append(whole)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(whole) + "\n")
