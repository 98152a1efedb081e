"""HAR 1.2 files. Source: HTTP Archive 1.2, <http://www.softwareishard.com/blog/har-12-spec/>."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from .bodies import PAGE_TYPES, essence
from .candidate import Candidate, judge
from .recorded_steps import MAX_STEPS, LeftOut, RecordingError, Skip, Skips, Step, Steps, pause_s, value_of
from .tokens import with_tokens


def _session_steps(candidates: Sequence[Candidate]) -> list[Step]:
    """Return the steps of a session.

    A part of a page is embedded, and has no pause, if its page came before it. Any other request has its recorded
    pause, counted from the moment when all earlier answers were complete. Tokens that pages give to later steps are
    traced.
    """
    pages: set[str | None] = set()
    complete_ns: int | None = None
    requests = []
    ordered = _in_order(candidates)
    for candidate in ordered:
        kind = _role(candidate)
        if kind is _Role.PAGE:
            pages.add(candidate.page)
        embedded = kind is _Role.PART and candidate.page in pages
        think_s = 0.0 if embedded else pause_s(complete_ns, candidate.started_ns)
        requests.append(replace(candidate.request, think_s=think_s, embedded=embedded))
        ended_ns = candidate.ended_ns
        if ended_ns is not None:
            complete_ns = ended_ns if complete_ns is None else max(complete_ns, ended_ns)
    tokened = with_tokens(requests, [candidate.fields for candidate in ordered])
    return [
        Step(request, candidate.status, candidate.answer)
        for request, candidate in zip(tokened, ordered, strict=True)
    ]


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates sorted by their start; one without a readable date stays behind the one before it."""
    dated: list[tuple[int, Candidate]] = []
    latest_ns = -(2**63)
    for candidate in candidates:
        latest_ns = latest_ns if candidate.started_ns is None else candidate.started_ns
        dated.append((latest_ns, candidate))
    return [candidate for _, candidate in sorted(dated, key=lambda pair: pair[0])]


class _Role(StrEnum):
    PAGE = "page"
    """A document that the visitor opened."""
    PART = "part"
    """A resource that the page loads: a style sheet, a script, an image, a frame."""
    CALL = "call"
    """A request by itself: a form, a script's request, an API call."""


def _role(candidate: Candidate) -> _Role:
    """Return the role of a request, by the most reliable sign that is there.

    The signs are, in this order: the header that the browser sent, the type that it gave to the exporter, and the
    answer. Only a GET or HEAD request can be a part. Sources: Fetch Metadata Request Headers, section 2.1;
    Chromium's exporter for the names of resource types.
    """
    sign = _declared_role(candidate) or _by_answer(candidate)
    return _Role.CALL if sign is _Role.PART and candidate.request.method not in ("GET", "HEAD") else sign


_ROLES = {"document": _Role.PAGE, "empty": _Role.CALL, "xhr": _Role.CALL, "fetch": _Role.CALL}
"""Role of a request by the browser's name for its purpose; any other name means a part."""


def _declared_role(candidate: Candidate) -> _Role | None:
    """Return the role that the browser told the server, else the exporter; None if it told neither."""
    purpose = value_of(candidate.request.headers, "sec-fetch-dest")
    if purpose is None:
        purpose = candidate.resource_type
    return None if purpose is None else _ROLES.get(purpose, _Role.PART)


def _by_answer(candidate: Candidate) -> _Role:
    media_type, headers = essence(candidate.answer_type), candidate.request.headers
    if value_of(headers, "x-requested-with") is not None or media_type.endswith("json"):
        return _Role.CALL
    # the media type of a redirect means nothing: it is a page if the browser wanted one
    wants_page = (value_of(headers, "accept") or "").startswith("text/html")
    is_redirect = candidate.status in (301, 302, 303, 307, 308)
    if media_type in PAGE_TYPES or (wants_page and is_redirect):
        return _Role.PAGE
    return _Role.PART


def from_har(content: bytes) -> Steps:
    """Return the steps of a HAR file.

    Only the requests to the server that got most of them are kept, in the order of their start. An entry that
    cannot be replayed is counted, and is no error.

    Raises RecordingError if the file is no HAR file, has more than ``MAX_STEPS`` entries, or none can be replayed.
    """
    entries = _entries(content)
    results = [_judged(entry) for entry in entries]
    origins = Counter(result.origin for result in results if isinstance(result, Candidate))
    # the first server if several got as many
    origin = max(origins, key=origins.__getitem__, default="")
    candidates, kept, skips = [], [], Skips()
    for number, (entry, result) in enumerate(zip(entries, results, strict=True), 1):
        if isinstance(result, Skip):
            skips.count(result, number)
        elif result.origin != origin:
            skips.count(Skip.OTHER_SERVER, number)
        else:
            candidates.append(result)
            kept.append(entry)
    if not candidates:
        raise _no_steps_error(skips, len(entries))
    return Steps(origin=origin, steps=_session_steps(candidates), skipped=skips.counts(), entries=kept)


def _judged(entry: object) -> Candidate | Skip:
    """Return the request of an entry if it can be replayed, else the reason why it cannot."""
    try:
        return judge(entry)
    except LeftOut as left_out:
        return left_out.skip


def _entries(content: bytes) -> list[Any]:
    """Return the list ``log.entries``."""
    try:
        # NaN and Infinity, no numbers in JSON, stay words
        document = json.loads(content.decode("utf-8-sig"), parse_constant=str)
    except RecursionError as error:
        raise _unreadable_error("it is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise _unreadable_error(f"byte {error.start + 1} is no UTF-8") from error
    except ValueError as error:
        raise _unreadable_error(str(error)) from error
    match document:
        case {"log": {"entries": list() as entries}}:
            if len(entries) > MAX_STEPS:
                raise RecordingError(f"it has more than {MAX_STEPS} entries; record a shorter session")
            return entries
    raise RecordingError("it is JSON without a list log.entries; export the session as HAR 1.2")


def _unreadable_error(why: str) -> RecordingError:
    return RecordingError(f"it is not a whole HAR 1.2 file ({why}); export the session again")


def _no_steps_error(skips: Skips, entries: int) -> RecordingError:
    most_frequent = skips.most_frequent()
    if most_frequent is None:
        return RecordingError(
            "its list log.entries is empty; "
            "reload the page while the network panel or the proxy records, then export"
        )
    return RecordingError(
        f"none of its {entries} entries can be replayed, most often as: {most_frequent[0]}; "
        f"the first is entry {most_frequent[1]}; record plain http or https pages"
    )
