"""Right answers as the user demands them, refused where the app's own answers are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..base.errors import InputError
from ..measure.expectation import EVERY_PATH, Likeness, RightAnswer, RightAnswers
from ..measure.workload import Answer, AnswerOrigin, Sameness
from .unlike import in_words

__all__ = ["demanded", "rule_for"]

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
