"""Which parts of a golden body repeat, when regular expressions say which do not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stackrace.base.errors import InputError

__all__ = ["fixed_parts"]


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
