"""Golden answers: what every stack must say, because the app itself says it."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from ..base.errors import AppError, said_by
from ..base.files import read_bytes
from ..measure.workload import MOST_BODY_BYTES, Answer, AnswerOrigin, Sameness, Workload, mean_time
from .examination import Examination, Exchange, Reply
from .refusal import refusal, refusals
from .sameness import Cause, causes

__all__ = ["golden", "loosened", "sameness"]


def golden(examination: Examination) -> Workload:
    """Return the requests with their golden answers.

    A path that the app itself does not answer, or answers with a page as it may any path, but that a front end will
    serve from ``examination.static``, gets that file for an answer.
    Raises AppError with the way out, for all others at once that are no success.
    """
    answers: list[Answer] = []
    refused: dict[str, AppError] = {}
    for exchange in examination.exchanges:
        try:
            answers.append(_answer(exchange, examination))
        except AppError as error:
            refused.setdefault(error.message, error)
    if refused:
        raise refusals(tuple(refused.values()))
    return Workload(
        requests=tuple(exchange.request for exchange in examination.exchanges),
        answers=tuple(answers),
        host=examination.host,
        page=mean_time(exchange.page for exchange in examination.exchanges),
    )


def sameness(first: Reply, second: Reply) -> Sameness:
    """Return how much of two answers of the same status repeats."""
    if first.body == second.body:
        return Sameness.BODY
    return Sameness.LENGTH if len(first.body) == len(second.body) else Sameness.STATUS


def _answer(exchange: Exchange, examination: Examination) -> Answer:
    file = static_file(exchange.request.path, examination.static)
    for reply in (exchange.first, exchange.second):
        is_success = 200 <= reply.status < 300
        if file is not None and not (is_success and _may_be(file, reply)):
            return _of_file(file)
        if not is_success or reply.excess:
            raise refusal(exchange, reply, examination)
    first, second = exchange.first, exchange.second
    likeness, parts = _repeating((first.body, second.body))
    return Answer(
        status=first.status,
        body=first.body,
        content_type=first.header("content-type"),
        sameness=likeness,
        parts=parts,
    )


def loosened(answer: Answer, exchange: Exchange) -> Answer | None:
    """Return ``answer`` as it is right after a later ``exchange`` with the app; None where nothing is new."""
    replies = (exchange.first, exchange.second)
    if any(reply.status != answer.status or reply.excess for reply in replies):
        return None
    bodies = (answer.body, *(reply.body for reply in replies))
    likeness, parts = _repeating(bodies)
    return replace(answer, sameness=likeness, parts=parts) if _WEAKER[likeness] > _WEAKER[answer.sameness] else None


_WEAKER = {Sameness.BODY: 0, Sameness.PARTS: 1, Sameness.LENGTH: 2, Sameness.STATUS: 3}

_MOST_PARTS = 64
"""Bodies with more numbers are compared by what is before the first and after the last: looking for each costs."""

_MOST_SPLIT_BYTES = 4 << 20
"""The pieces of a longer body take many times its room."""

_PAGE = "text/html"
_NUMBER = re.compile(rb"\d+")


def _repeating(bodies: Sequence[bytes]) -> tuple[Sameness, tuple[bytes, ...]]:
    """Return how much of ``bodies`` repeats, with the fixed parts of one in which only numbers change.

    A number may grow by a digit, so the length of such a body is no mark of a right one.
    """
    if len(set(bodies)) == 1:
        return Sameness.BODY, ()
    if len({len(body) for body in bodies}) > 1:
        return Sameness.STATUS, ()
    is_short = len(bodies[0]) <= _MOST_SPLIT_BYTES
    between = {tuple(_NUMBER.split(body)) for body in bodies} if is_short else ()
    if len(between) != 1:
        grows = any(Cause.NUMBER in causes(bodies[0], body) for body in bodies[1:])
        return Sameness.STATUS if grows else Sameness.LENGTH, ()
    (parts,) = between
    return Sameness.PARTS, parts if len(parts) <= _MOST_PARTS else (parts[0], parts[-1])


def static_file(path: str, static: Mapping[str, Path]) -> Path | None:
    """Return the file that a front end serves for ``path``, or None; never one outside the mapped folder."""
    path = unquote(path.partition("?")[0], errors="surrogateescape")
    if "\0" in path:
        return None
    for prefix in sorted(static, key=len, reverse=True):
        if path.startswith(prefix):
            # links are followed, as web servers do
            folder = static[prefix].absolute()
            file = Path(os.path.normpath(folder / path.removeprefix(prefix).lstrip("/")))
            return file if file.is_file() and file.is_relative_to(folder) else None
    return None


def _may_be(file: Path, reply: Reply) -> bool:
    """Tell whether ``reply`` is no page in the place of ``file``, which a single-page app gives for any path."""
    return not reply.header("content-type").startswith(_PAGE) or _kind(file) == _PAGE


def _kind(file: Path) -> str:
    return mimetypes.guess_type(file.name)[0] or "application/octet-stream"


def _of_file(file: Path) -> Answer:
    try:
        body = read_bytes(file, MOST_BODY_BYTES)
    except OSError as error:
        raise AppError(f"the static file {file} cannot be raced: {said_by(error)}") from error
    return Answer(
        status=200,
        body=body,
        content_type=_kind(file),
        sameness=Sameness.BODY,
        origin=AnswerOrigin.FILE,
    )
