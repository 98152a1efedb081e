"""A request as plain JSON, and back: what a race needs to be set up once more, by another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ..model.right_answer import RightAnswer
from .request import RaceRequest, WorkloadRequest

__all__ = ["request_document", "request_from"]

_ADAPTER = TypeAdapter(RaceRequest)
_WORKLOAD = TypeAdapter(WorkloadRequest)


def request_document(request: RaceRequest) -> dict[str, object]:
    """Return ``request`` with absolute paths, in types that JSON knows."""
    asked = _absolute(request)
    document: dict[str, object] = _ADAPTER.dump_python(asked, mode="json")
    # pydantic keeps values that are no UTF-8, but replaces keys
    document["environment"] = dict(asked.environment)
    document["check"] = _checks(asked.check)
    document["workloads"] = [
        {**_WORKLOAD.dump_python(workload, mode="json"), "check": _checks(workload.check)}
        for workload in asked.workloads
    ]
    document["static"] = None if asked.static is None else {url: str(path) for url, path in asked.static.items()}
    return document


def _checks(checks: Mapping[str, RightAnswer]) -> dict[str, object]:
    return {path: asdict(right_answer) for path, right_answer in checks.items()}


def request_from(document: object) -> RaceRequest:
    """Undo ``request_document``; raises ValueError for what is no request of this version."""
    try:
        return _ADAPTER.validate_python(document, extra="forbid")
    except ValidationError as error:
        raise ValueError(str(error)) from error


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
