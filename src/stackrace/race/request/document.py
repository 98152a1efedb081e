"""A request as plain JSON, and back: what a race needs to be set up once more, by another process.

Secrets among the app's variables are left out; they are read again where they come from.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ...base.errors import InputError
from ...base.secrets import secrets_in
from ...measure.expectation import RightAnswer
from .race_file import read_race_file
from .request import RaceRequest, WorkloadRequest

__all__ = ["request_document", "request_from"]

_ADAPTER = TypeAdapter(RaceRequest)
_WORKLOAD = TypeAdapter(WorkloadRequest)


def request_document(request: RaceRequest) -> dict[str, object]:
    """Return ``request`` with absolute paths, in types that JSON knows."""
    asked = _absolute(request)
    document: dict[str, object] = _ADAPTER.dump_python(asked, mode="json")
    # pydantic keeps values that are no UTF-8, but replaces keys
    document["environment"] = {
        name: None if any(secrets_in(name, value)) else value for name, value in asked.environment.items()
    }
    document["check"] = _checks(asked.check)
    document["workloads"] = [
        {**_WORKLOAD.dump_python(workload, mode="json"), "check": _checks(workload.check)}
        for workload in asked.workloads
    ]
    document["static"] = None if asked.static is None else {url: str(path) for url, path in asked.static.items()}
    return document


def _checks(checks: Mapping[str, RightAnswer]) -> dict[str, object]:
    return {path: asdict(right_answer) for path, right_answer in checks.items()}


def request_from(document: object, environ: Mapping[str, str] = os.environ) -> RaceRequest:
    """Undo ``request_document``, with secrets from the race file, or else from ``environ``.

    Raises ValueError for what is no request of this version, InputError where a secret is in neither.
    """
    kept: dict[str, str | None] = {}
    if isinstance(document, Mapping) and isinstance(document.get("environment"), dict):
        kept = document["environment"]
        document = {**document, "environment": {name: value or "" for name, value in kept.items()}}
    try:
        request: RaceRequest = _ADAPTER.validate_python(document, extra="forbid")
    except ValidationError as error:
        raise ValueError(str(error)) from error
    return replace(request, environment=_with_secrets(kept, request.source, environ))


def _with_secrets(
    kept: Mapping[str, str | None], source: Path | None, environ: Mapping[str, str]
) -> dict[str, str]:
    known = dict(environ)
    if None in kept.values() and source is not None:
        with suppress(InputError):
            known |= read_race_file(source, lambda stack: None, recordings=False).environment
    if lacking := sorted(name for name, value in kept.items() if value is None and name not in known):
        where = "" if source is None else f", or in [app] env of {source},"
        raise InputError(
            f"the values of {', '.join(lacking)} were not kept, as they are secrets: set them in the environment"
            f"{where} and try again"
        )
    return {name: known[name] if value is None else value for name, value in kept.items()}


def _absolute(request: RaceRequest) -> RaceRequest:
    """A race may go on from another folder. Links stay: a virtual environment's interpreter is one."""
    return replace(
        request,
        folder=request.folder.absolute(),
        source=_path(request.source),
        python=_path(request.python),
        ruby=_path(request.ruby),
        env_files=tuple(path.absolute() for path in request.env_files),
        static=None if request.static is None else {url: path.absolute() for url, path in request.static.items()},
        protect=tuple(path.absolute() for path in request.protect),
        servers=_path(request.servers),
        current=request.current.absolute() if isinstance(request.current, Path) else request.current,
        session=_path(request.session),
        workloads=tuple(replace(workload, session=_path(workload.session)) for workload in request.workloads),
    )


def _path(path: Path | None) -> Path | None:
    return None if path is None else path.absolute()
