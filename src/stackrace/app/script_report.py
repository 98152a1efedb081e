"""Our own scripts, run by the app's interpreter: each reports one JSON document into a descriptor."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..base.process import attended, within
from .app import App

__all__ = ["script_report"]

_FOLDER = Path(__file__).with_name("examiner")
_PATIENCE_S = 30.0


def script_report(
    app: App, script: str, environment: Mapping[str, str], begin: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Return what the file ``script`` of the examiner reports in the app's folder; empty where it reports nothing.

    ``begin`` runs in the new process first.
    """
    with tempfile.TemporaryFile() as report:
        status = attended(
            [str(app.python), str(_FOLDER / script), str(report.fileno())],
            within(_PATIENCE_S),
            folder=app.root,
            environment=environment,
            kept_open=[report.fileno()],
            begin=begin,
        )
        report.seek(0)
        with suppress(ValueError):
            document: dict[str, Any] = json.loads(report.read())
            return {} if status is None else document
    return {}
