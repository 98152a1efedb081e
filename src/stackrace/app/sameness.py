"""How far answers to one request are alike: why two of them differ, and what the user wants to be the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import zip_longest

from ..base.errors import InputError
from ..measure.expectation import EVERY_PATH, Likeness, RightAnswer, RightAnswers
from ..measure.workload import Answer, AnswerOrigin, Sameness

__all__ = ["Cause", "causes", "common_bytes", "demanded", "has_toolbar", "in_words", "rule_for"]

_MOST_BYTES = 1 << 20
"""So much of a body is compared."""

_LEAST_ALIKE = 0.5
"""Bodies with less in common at both ends are different pages, not variants of one."""


class Cause(StrEnum):
    """What differs, the surest first; the value says it after "it has"."""

    TOOLBAR = "the Debug toolbar in it (take it out of MIDDLEWARE or set SHOW_TOOLBAR_CALLBACK)"
    CSRF = "a CSRF token of its own in each answer"
    NONCE = "a nonce of its own in each answer (Content-Security-Policy)"
    TIME = "the time in it"
    NUMBER = "a number in it that changes"
    IDENTIFIER = "an id of its own in each answer"
    VARIANT = "variants, as an A/B test makes them"


_TOOLBAR = re.compile(rb"id=[\"']?(?:djDebug|flDebug)|debug[-_]?toolbar", re.IGNORECASE)
_CSRF = re.compile(rb"csrf|authenticity_token|_token\b|xsrf|requestverification", re.IGNORECASE)
_NONCE = re.compile(rb"\bnonce\b", re.IGNORECASE)
_TIME = re.compile(
    rb"#{1,2}:##|#{4}-##|(?<!#)#{10}(?:#{3})?(?!#)|\d(?:am|pm)|\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug"
    rb"|sep|oct|nov|dec)[a-z]*\b|# ?(?:\xc2\xb5|m)?s\b|seconds|minutes",
    re.IGNORECASE,
)
_LONG = re.compile(rb"[0-9A-Za-z_+/=.-]{12,}")
_PIECES = re.compile(rb"<[^>]*>|[^<,{}\[\]\n]+|[,{}\[\]\n]|<")


def has_toolbar(body: bytes) -> bool:
    """Tell whether the Debug toolbar of Django or Flask is in a page."""
    return _TOOLBAR.search(body) is not None


def causes(first: bytes, second: bytes) -> tuple[Cause, ...]:
    """Return what may make two bodies differ, the surest first; nothing where nothing is recognised."""
    first, second = first[:_MOST_BYTES], second[:_MOST_BYTES]
    if first == second:
        return ()
    seen = {_cause(*pair) for pair in _pairs(first, second)}
    if has_toolbar(first) or has_toolbar(second):
        seen.add(Cause.TOOLBAR)
    if None in seen or Cause.VARIANT in seen:
        seen.discard(None)
        if _share_alike(first, second) < _LEAST_ALIKE:
            seen.discard(Cause.VARIANT)
    return tuple(cause for cause in Cause if cause in seen)


def in_words(first: bytes, second: bytes) -> str:
    """Say what may make two bodies differ, as ``it has a number in it that changes``; empty where unknown."""
    recognised = causes(first, second)
    return f"it has {' and '.join(recognised[:2])}" if recognised else ""


def _pairs(first: bytes, second: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield what stands in the one where something else stands in the other: tags, texts, parts of JSON."""
    pieces, others = _PIECES.findall(first), _PIECES.findall(second)
    if len(pieces) != len(others):
        start = next(index for index, pair in enumerate(zip_longest(pieces, others)) if pair[0] != pair[1])
        rest, other_rest = pieces[start:], others[start:]
        while rest and other_rest and rest[-1] == other_rest[-1]:
            rest.pop()
            other_rest.pop()
        pieces, others = [b"".join(rest)], [b"".join(other_rest)]
    yield from ((piece, other) for piece, other in zip(pieces, others, strict=True) if piece != other)


def _cause(piece: bytes, other: bytes) -> Cause | None:
    both = piece + b" " + other
    if _CSRF.search(both):
        return Cause.CSRF
    if _NONCE.search(both):
        return Cause.NONCE
    shape, other_shape = (re.sub(rb"\d", b"#", text) for text in (piece, other))
    numbers = re.sub(rb"#+", b"#", shape) == re.sub(rb"#+", b"#", other_shape)
    if _TIME.search(shape) and (numbers or _TIME.search(other_shape)):
        return Cause.TIME
    if numbers:
        return Cause.NUMBER
    if _LONG.sub(b"", piece) == _LONG.sub(b"", other):
        return Cause.IDENTIFIER
    return Cause.VARIANT


def _share_alike(first: bytes, second: bytes) -> float:
    """Return how much of the longer body both have at their beginnings and ends."""
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
    """Return the rule of the first of ``paths`` that has one, or that of all others; None where there is none."""
    return next((check[path] for path in paths if path in check), check.get(EVERY_PATH))


def demanded(answer: Answer, rule: RightAnswer, path: str, bodies: Sequence[bytes]) -> Answer:
    """Return ``answer`` as it is right under ``rule``; ``bodies`` are those known of right answers to ``path``.

    InputError: one of ``bodies`` would be wrong, or there is none where one is needed.
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
    return _measured(answer, rule.likeness, path, bodies)


def _measured(answer: Answer, likeness: Likeness, path: str, bodies: Sequence[bytes]) -> Answer:
    lengths = sorted({len(body) for body in bodies})
    if len(lengths) > 1:
        raise InputError(
            f"check of {path}: the app's own answers have {lengths[0]} and {lengths[-1]} bytes"
            f"{_why(bodies)}; {_INSTEAD}"
        )
    if likeness is Likeness.EXACT and len(set(bodies)) > 1:
        raise InputError(f"check of {path}: the app's own answers are not exactly alike{_why(bodies)}; {_INSTEAD}")
    sameness = Sameness.LENGTH if likeness is Likeness.LENGTH else Sameness.BODY
    return replace(answer, body=bodies[0], sameness=sameness, parts=())


def _why(bodies: Sequence[bytes]) -> str:
    words = in_words(bodies[0], bodies[-1])
    return f": {words}" if words else ""


def _encoded(text: str, bodies: Sequence[bytes], content_type: str) -> bytes:
    """Return ``text`` as the page has it: in UTF-8, or in the charset that it names."""
    plain = text.encode()
    charset = content_type.partition("charset=")[2].partition(";")[0].strip(" \"'")
    if not charset or all(plain in body for body in bodies):
        return plain
    try:
        return text.encode(charset)
    except (LookupError, UnicodeEncodeError):
        return plain
