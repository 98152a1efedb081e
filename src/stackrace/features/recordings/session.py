"""From requests to a session: their order, the pauses between them, and what belongs to which page."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from .bodies import PAGE_TYPES, essence
from .candidate import Candidate
from .steps import Step, pause_ns, value_of
from .tokens import with_tokens


def session_steps(candidates: Sequence[Candidate]) -> list[Step]:
    """Return the steps of a session.

    A part of a page is embedded, and without a pause, once its page has been seen. Everything else comes as long
    after all before it were complete as it did when it was recorded. What pages gave for later steps is traced.
    """
    pages: set[str | None] = set()
    complete_ns: int | None = None
    steps = []
    ordered = _in_order(candidates)
    for candidate in ordered:
        kind = role(candidate)
        if kind is Role.PAGE:
            pages.add(candidate.page)
        embedded = kind is Role.PART and candidate.page in pages
        think_ns = 0 if embedded else pause_ns(complete_ns, candidate.started_ns)
        ended_ns = candidate.ended_ns
        if ended_ns is not None:
            complete_ns = ended_ns if complete_ns is None else max(complete_ns, ended_ns)
        steps.append(candidate.step(think_ns, embedded))
    return with_tokens(steps, ordered)


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Sort by start; what has no readable date stays behind its neighbour."""
    dated: list[tuple[int, Candidate]] = []
    latest_ns = -(2**63)
    for candidate in candidates:
        latest_ns = latest_ns if candidate.started_ns is None else candidate.started_ns
        dated.append((latest_ns, candidate))
    return [candidate for _, candidate in sorted(dated, key=lambda pair: pair[0])]


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
