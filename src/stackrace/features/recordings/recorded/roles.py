"""What a request was to the person who browsed: a page, a part of it, or something the page asked for later."""

from __future__ import annotations

from enum import StrEnum

from .bodies import PAGE_TYPES, essence
from .candidate import Candidate
from .headers import value_of


class Role(StrEnum):
    """The role of a request in a page."""

    PAGE = "page"
    """A document: somebody went there."""
    PART = "part"
    """Loaded because the page says so: a style sheet, a script, an image, a frame."""
    CALL = "call"
    """Asked for by itself: a form, a script's request, an API call."""


def role(candidate: Candidate) -> Role:
    """Return the role of a request, from the surest sign to the least sure.

    That is: what the browser told the server, what it told the exporter, what the answer was. Only what is read
    with GET or HEAD can be a part. Sources: Fetch Metadata Request Headers, section 2.1; Chromium's exporter for
    the names of resource types.
    """
    sign = _by_fetch_metadata(candidate) or _by_resource_type(candidate) or _by_answer(candidate)
    return Role.CALL if sign is Role.PART and candidate.method not in ("GET", "HEAD") else sign


def _by_fetch_metadata(candidate: Candidate) -> Role | None:
    destination = value_of(candidate.headers, "sec-fetch-dest")
    if destination is None:
        return None
    return {"document": Role.PAGE, "empty": Role.CALL}.get(destination, Role.PART)


def _by_resource_type(candidate: Candidate) -> Role | None:
    if candidate.resource_type is None:
        return None
    return {"document": Role.PAGE, "xhr": Role.CALL, "fetch": Role.CALL}.get(candidate.resource_type, Role.PART)


def _by_answer(candidate: Candidate) -> Role:
    media_type = essence(candidate.answer_type)
    if value_of(candidate.headers, "x-requested-with") is not None or media_type.endswith("json"):
        return Role.CALL
    # a redirect has no media type worth the name: it is a page if the browser wanted one
    wants_page = (value_of(candidate.headers, "accept") or "").startswith("text/html")
    is_redirect = candidate.status in (301, 302, 303, 307, 308)
    if media_type in PAGE_TYPES or (wants_page and is_redirect):
        return Role.PAGE
    return Role.PART
