"""Golden answers: answers of the app itself, which every stack must give; and reasons why two answers differ."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from urllib.parse import unquote

from ..base.errors import AppError, InputError, said_by
from ..base.files import read_bytes
from ..measure.workload import (
    EVERY_PATH,
    MOST_BODY_BYTES,
    Answer,
    AnswerOrigin,
    Likeness,
    RightAnswer,
    RightAnswers,
    Sameness,
    Workload,
    alike_in_size,
    mean_time,
)
from .examination import Examination, Exchange, excess_of, has_toolbar
from .examiner.messages import Reply
from .refusal import refusal


def golden(examination: Examination) -> Workload:
    """Return the requests with their golden answers.

    The answer is a file of ``examination.static`` if a front end will serve the path from there, and the app itself
    does not answer it, or answers with a page as a single-page app does for any path.
    Raises one AppError with the way out for all other answers that are no success.
    """
    answers: list[Answer] = []
    refused: dict[str, AppError] = {}
    for exchange in examination.exchanges:
        try:
            answers.append(_answer(exchange, examination))
        except AppError as error:
            refused.setdefault(error.message, error)
    if refused:
        raise _refusals(tuple(refused.values()))
    return Workload(
        requests=tuple(exchange.request for exchange in examination.exchanges),
        answers=tuple(answers),
        host=examination.host,
        page=mean_time(exchange.page for exchange in examination.exchanges),
    )


def _refusals(errors: Sequence[AppError]) -> AppError:
    """Return one error for all ``errors``; a traceback that several errors share is shown once."""
    if len(errors) == 1:
        return errors[0]
    lines = "\n".join(f"  {error.message}" for error in errors)
    details = dict.fromkeys(error.detail for error in errors if error.detail)
    return AppError(f"{len(errors)} URLs cannot be raced:\n{lines}", detail="\n".join(details))


def _answer(exchange: Exchange, examination: Examination) -> Answer:
    file = static_file(exchange.request.path, examination.static)
    for reply in (exchange.first, exchange.second):
        is_success = 200 <= reply.status < 300
        if file is not None and not (is_success and _may_be(file, reply)):
            return _of_file(file)
        if not is_success or excess_of(reply):
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
    """Return ``answer`` with the looser comparison that a later ``exchange`` requires; None if it requires none."""
    replies = (exchange.first, exchange.second)
    if any(reply.status != answer.status or excess_of(reply) for reply in replies):
        return None
    bodies = (answer.body, *(reply.body for reply in replies))
    likeness, parts = _repeating(bodies)
    return replace(answer, sameness=likeness, parts=parts) if _WEAKER[likeness] > _WEAKER[answer.sameness] else None


_WEAKER = {Sameness.BODY: 0, Sameness.PARTS: 1, Sameness.LENGTH: 2, Sameness.SIZE: 3, Sameness.STATUS: 4}

_MOST_PARTS = 64
"""Most parts of a body to compare; with more, only the text before the first and after the last number counts."""

_MOST_SPLIT_BYTES = 4 << 20
"""Most bytes of a body that is split at its numbers: the parts take many times its memory."""

_PAGE = "text/html"
_NUMBER = re.compile(rb"\d+")


def _repeating(bodies: Sequence[bytes]) -> tuple[Sameness, tuple[bytes, ...]]:
    """Return how much of ``bodies`` is always the same; if only numbers change, with the fixed parts between them.

    A number may grow by a digit, so the length of such a body does not show that it is right.
    """
    if len(set(bodies)) == 1:
        return Sameness.BODY, ()
    if len({len(body) for body in bodies}) > 1:
        return Sameness.SIZE if alike_in_size(*bodies) else Sameness.STATUS, ()
    is_short = len(bodies[0]) <= _MOST_SPLIT_BYTES
    between = {tuple(_NUMBER.split(body)) for body in bodies} if is_short else ()
    if len(between) != 1:
        grows = any(_Cause.NUMBER in _causes(bodies[0], body) for body in bodies[1:])
        return Sameness.SIZE if grows else Sameness.LENGTH, ()
    (parts,) = between
    return Sameness.PARTS, parts if len(parts) <= _MOST_PARTS else (parts[0], parts[-1])


def static_file(path: str, static: Mapping[str, Path]) -> Path | None:
    """Return the file that a front end serves for ``path``, always inside the mapped folder; None without one."""
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
    """Tell whether ``reply`` may be ``file``, and not the page that a single-page app gives for any path."""
    return not reply.header("content-type").startswith(_PAGE) or _media_type(file) == _PAGE


def _media_type(file: Path) -> str:
    return mimetypes.guess_type(file.name)[0] or "application/octet-stream"


def _of_file(file: Path) -> Answer:
    try:
        body = read_bytes(file, MOST_BODY_BYTES)
    except OSError as error:
        raise AppError(f"the static file {file} cannot be raced: {said_by(error)}") from error
    return Answer(
        status=200,
        body=body,
        content_type=_media_type(file),
        sameness=Sameness.BODY,
        origin=AnswerOrigin.FILE,
    )


_MOST_BYTES = 1 << 20

_LEAST_ALIKE = 0.5
"""Share of common bytes at both ends; with less, two bodies are different pages, not variants of one."""


class _Cause(StrEnum):
    """Reasons why bodies differ, the surest first; the value continues the words "it has"."""

    TOOLBAR = "the Debug toolbar in it (switch it off, or race the settings of production)"
    CSRF = "a CSRF token of its own in each answer"
    NONCE = "a nonce of its own in each answer (Content-Security-Policy)"
    TIME = "the time in it"
    NUMBER = "a number in it that changes"
    IDENTIFIER = "an id of its own in each answer"
    VARIANT = "parts that differ from answer to answer (variants, or what it repeats of a request or a variable)"


_CSRF = re.compile(rb"csrf|authenticity_token|_token\b|xsrf|requestverification", re.IGNORECASE)
_NONCE = re.compile(rb"\bnonce\b", re.IGNORECASE)
_TIME = re.compile(
    rb"#{1,2}:##|#{4}-##|(?<!#)#{10}(?:#{3})?(?!#)|\d(?:am|pm)|\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug"
    rb"|sep|oct|nov|dec)[a-z]*\b|# ?(?:\xc2\xb5|m)?s\b|seconds|minutes",
    re.IGNORECASE,
)
_LONG = re.compile(rb"[0-9A-Za-z_+/=.-]{12,}")
_PIECES = re.compile(rb"<[^<>]*>|[^<,{}\[\]\n]+|[,{}\[\]\n]|<")


def _causes(first: bytes, second: bytes) -> tuple[_Cause, ...]:
    """Return the probable reasons why two bodies differ, the surest first; empty if none is recognised."""
    first, second = first[:_MOST_BYTES], second[:_MOST_BYTES]
    if first == second:
        return ()
    seen = {_cause(*pair) for pair in _pairs(first, second)}
    if has_toolbar(first) or has_toolbar(second):
        # whatever else differs is mostly in its panels
        return (_Cause.TOOLBAR,)
    if None in seen or _Cause.VARIANT in seen:
        seen.discard(None)
        if _common_share(first, second) < _LEAST_ALIKE:
            seen.discard(_Cause.VARIANT)
    return tuple(cause for cause in _Cause if cause in seen)


def in_words(first: bytes, second: bytes) -> str:
    """Say why two bodies probably differ, as ``it has a number in it that changes``; empty if unknown."""
    recognised = _causes(first, second)
    return f"it has {' and '.join(recognised[:2])}" if recognised else ""


def _pairs(first: bytes, second: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the pairs of pieces that differ between two bodies: tags, texts, parts of JSON."""
    pieces, others = _PIECES.findall(first), _PIECES.findall(second)
    if len(pieces) != len(others):
        start = next(index for index, pair in enumerate(zip_longest(pieces, others)) if pair[0] != pair[1])
        rest, other_rest = pieces[start:], others[start:]
        while rest and other_rest and rest[-1] == other_rest[-1]:
            rest.pop()
            other_rest.pop()
        pieces, others = [b"".join(rest)], [b"".join(other_rest)]
    yield from ((piece, other) for piece, other in zip(pieces, others, strict=True) if piece != other)


def _cause(piece: bytes, other: bytes) -> _Cause | None:
    both = piece + b" " + other
    if _CSRF.search(both):
        return _Cause.CSRF
    if _NONCE.search(both):
        return _Cause.NONCE
    shape, other_shape = (re.sub(rb"\d", b"#", text) for text in (piece, other))
    numbers = re.sub(rb"#+", b"#", shape) == re.sub(rb"#+", b"#", other_shape)
    if _TIME.search(shape) and (numbers or _TIME.search(other_shape)):
        return _Cause.TIME
    if numbers:
        return _Cause.NUMBER
    if _LONG.sub(b"", piece) == _LONG.sub(b"", other):
        return _Cause.IDENTIFIER
    return _Cause.VARIANT


def _common_share(first: bytes, second: bytes) -> float:
    shorter, longer = min(len(first), len(second)), max(len(first), len(second))
    start = common_bytes(first, second)
    end = min(common_bytes(first[::-1], second[::-1]), shorter - start)
    return (start + end) / longer


def common_bytes(first: bytes, second: bytes) -> int:
    """Return the length of the common beginning."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[:middle] == second[:middle] else (low, middle - 1)
    return low


_INSTEAD = 'take "status", or { contains = "text" } with a text that each of them has'


def rule_for(check: RightAnswers, *paths: str) -> RightAnswer | None:
    """Return the rule of the first of ``paths`` that has one, else the rule for all paths; None without one."""
    return next((check[path] for path in paths if path in check), check.get(EVERY_PATH))


def demanded(answer: Answer, rule: RightAnswer, path: str, bodies: Sequence[bytes]) -> Answer:
    """Return ``answer`` as ``rule`` demands it; ``bodies`` are the known bodies of right answers to ``path``.

    Raises InputError if one of ``bodies`` breaks the rule, or if the rule needs a body and there is none.
    """
    if answer.origin is AnswerOrigin.APP:
        answer = replace(answer, origin=AnswerOrigin.USER)
    if rule.likeness is Likeness.STATUS:
        return replace(answer, sameness=Sameness.STATUS, parts=())
    if rule.likeness is Likeness.CONTAINS:
        text = _encoded(rule.text, bodies, answer.content_type)
        if any(text not in body for body in bodies):
            raise InputError(
                f"check of {path}: the app's own answer does not contain {rule.text!r}; give a text as it stands "
                "in the page's source"
            )
        return replace(answer, sameness=Sameness.PARTS, parts=(b"", text, b""))
    if not bodies:
        raise InputError(
            f"check of {path}: nothing is known of its body, so {rule.likeness.value} cannot be held; "
            'take "status" or { contains = "text" }'
        )
    return _with_sameness(answer, rule.likeness, path, bodies)


def _with_sameness(answer: Answer, likeness: Likeness, path: str, bodies: Sequence[bytes]) -> Answer:
    lengths = sorted({len(body) for body in bodies})
    if len(lengths) > 1:
        raise InputError(
            f"check of {path}: the app's own answers have {lengths[0]} and {lengths[-1]} bytes"
            f"{_difference_words(bodies)}; {_INSTEAD}"
        )
    if likeness is Likeness.EXACT and len(set(bodies)) > 1:
        raise InputError(
            f"check of {path}: the app's own answers are not exactly alike{_difference_words(bodies)}; {_INSTEAD}"
        )
    sameness = Sameness.LENGTH if likeness is Likeness.LENGTH else Sameness.BODY
    return replace(answer, body=bodies[0], sameness=sameness, parts=())


def _difference_words(bodies: Sequence[bytes]) -> str:
    words = in_words(bodies[0], bodies[-1])
    return f": {words}" if words else ""


def _encoded(text: str, bodies: Sequence[bytes], content_type: str) -> bytes:
    """Return ``text`` encoded as in the page: in UTF-8, or in the charset of ``content_type``."""
    plain = text.encode()
    charset = content_type.partition("charset=")[2].partition(";")[0].strip(" \"'")
    if not charset or all(plain in body for body in bodies):
        return plain
    try:
        return text.encode(charset)
    except (LookupError, UnicodeEncodeError):
        return plain
