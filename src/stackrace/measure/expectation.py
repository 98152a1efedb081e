"""What a right answer is where the user says so: rules by path, and masks for what varies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from stackrace.base.errors import InputError

__all__ = ["EVERY_PATH", "Likeness", "RightAnswer", "RightAnswers", "fixed_parts"]

EVERY_PATH = "*"
"""Stands in place of a path for all that have no rule of their own."""


class Likeness(StrEnum):
    """What of the app's own answer must come again; the status always must."""

    STATUS = "status"
    LENGTH = "length"
    EXACT = "exact"
    """Every byte of the body."""
    CONTAINS = "contains"
    """A text, wherever it stands in the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswer:
    """One rule."""

    likeness: Likeness
    """How alike an answer must be."""
    text: str = ""
    """What a body must contain."""


RightAnswers = Mapping[str, RightAnswer]
"""Rules by path; ``EVERY_PATH`` for all other paths. Without any rule the app's own answers decide."""


def fixed_parts(body: bytes, masks: Sequence[str]) -> tuple[bytes, ...]:
    """Return the parts of ``body`` between the matches of ``masks``, in order, as ``Answer.parts`` has them.

    The first part is empty when a match stands at the start, the last when one stands at the end; matches that
    touch or overlap count as one. Matches of nothing are no matches.

    InputError: a mask is no regular expression, or matches nothing in ``body``.
    """
    parts, after = [], 0
    for start, end in _joined(_matches(body, masks)):
        parts.append(body[after:start])
        after = end
    return (*parts, body[after:])


def _matches(body: bytes, masks: Sequence[str]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for mask in masks:
        try:
            matches = [match.span() for match in re.finditer(mask.encode(), body) if match.end() > match.start()]
        except re.error as error:
            raise InputError(f"--mask {mask!r} is no regular expression: {error}") from error
        if not matches:
            raise InputError(f"--mask {mask!r} matches nothing in the body of --expect-body; leave it out")
        spans += matches
    return sorted(spans)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
