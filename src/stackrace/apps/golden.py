"""Golden answers: what every stack must say, because the app itself says it."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from ..model.page_time import mean_time
from ..model.workload import Answer, Sameness, Workload
from .examination import Examination, Exchange, Reply
from .refusal import refusal

__all__ = ["golden", "sameness"]


def golden(examination: Examination) -> Workload:
    """Return the requests with their golden answers.

    A path that the app itself does not answer, but that a front end will serve from ``examination.static``,
    gets that file for an answer. Raises AppError, with the way out, for all others that are no success.
    """
    return Workload(
        requests=tuple(exchange.request for exchange in examination.exchanges),
        answers=tuple(_answer(exchange, examination) for exchange in examination.exchanges),
        host=examination.host,
        page=mean_time(exchange.page for exchange in examination.exchanges),
    )


def sameness(first: Reply, second: Reply) -> Sameness:
    """Return how much of two answers of the same status repeats."""
    if first.body == second.body:
        return Sameness.BODY
    return Sameness.LENGTH if len(first.body) == len(second.body) else Sameness.STATUS


def _answer(exchange: Exchange, examination: Examination) -> Answer:
    for reply in (exchange.first, exchange.second):
        if not 200 <= reply.status < 300:
            file = static_file(exchange.request.path, examination.static)
            if file is None:
                raise refusal(exchange, reply, examination)
            return _of_file(file)
    first, second = exchange.first, exchange.second
    return Answer(
        status=first.status,
        body=first.body,
        content_type=first.header("content-type"),
        sameness=sameness(first, second),
    )


def static_file(path: str, static: Mapping[str, Path]) -> Path | None:
    """Return the file that a front end serves for ``path``, or None; never one outside the mapped folder."""
    path = unquote(path.partition("?")[0])
    for prefix in sorted(static, key=len, reverse=True):
        if path.startswith(prefix):
            folder = static[prefix].resolve()
            file = (folder / path.removeprefix(prefix).lstrip("/")).resolve()
            return file if file.is_file() and file.is_relative_to(folder) else None
    return None


def _of_file(file: Path) -> Answer:
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return Answer(status=200, body=file.read_bytes(), content_type=kind, sameness=Sameness.BODY)
