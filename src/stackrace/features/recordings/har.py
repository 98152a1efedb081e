"""HAR 1.2 files. Source: HTTP Archive 1.2, <http://www.softwareishard.com/blog/har-12-spec/>."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NoReturn

from .bodies import PAGE_TYPES, essence
from .candidate import Candidate, judge
from .steps import MAX_STEPS, LeftOut, RecordingError, Skip, Skips, Step, Steps, pause_s, value_of
from .tokens import with_tokens


def _session_steps(candidates: Sequence[Candidate]) -> list[Step]:
    """Return the steps of a session.

    A part of a page is embedded, and without a pause, once its page has been seen. Everything else comes as long
    after all before it were complete as it did when it was recorded. What pages gave for later steps is traced.
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
    return [
        Step(request, candidate.status, candidate.answer)
        for request, candidate in zip(with_tokens(requests, ordered), ordered, strict=True)
    ]


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Sort by start; what has no readable date stays behind its neighbour."""
    dated: list[tuple[int, Candidate]] = []
    latest_ns = -(2**63)
    for candidate in candidates:
        latest_ns = latest_ns if candidate.started_ns is None else candidate.started_ns
        dated.append((latest_ns, candidate))
    return [candidate for _, candidate in sorted(dated, key=lambda pair: pair[0])]


class _Role(StrEnum):
    """The role of a request in a page."""

    PAGE = "page"
    """A document: somebody went there."""
    PART = "part"
    """Loaded because the page says so: a style sheet, a script, an image, a frame."""
    CALL = "call"
    """Asked for by itself: a form, a script's request, an API call."""


def _role(candidate: Candidate) -> _Role:
    """Return the role of a request, from the surest sign to the least sure.

    That is: what the browser told the server, what it told the exporter, what the answer was. Only what is read
    with GET or HEAD can be a part. Sources: Fetch Metadata Request Headers, section 2.1; Chromium's exporter for
    the names of resource types.
    """
    sign = _told(candidate) or _by_answer(candidate)
    return _Role.CALL if sign is _Role.PART and candidate.request.method not in ("GET", "HEAD") else sign


_TOLD = {"document": _Role.PAGE, "empty": _Role.CALL, "xhr": _Role.CALL, "fetch": _Role.CALL}
"""By what the browser calls it; all else is a part."""


def _told(candidate: Candidate) -> _Role | None:
    """Return what the browser told the server, else what it told the exporter."""
    purpose = value_of(candidate.request.headers, "sec-fetch-dest")
    if purpose is None:
        purpose = candidate.resource_type
    return None if purpose is None else _TOLD.get(purpose, _Role.PART)


def _by_answer(candidate: Candidate) -> _Role:
    media_type, headers = essence(candidate.answer_type), candidate.request.headers
    if value_of(headers, "x-requested-with") is not None or media_type.endswith("json"):
        return _Role.CALL
    # a redirect has no media type worth the name: it is a page if the browser wanted one
    wants_page = (value_of(headers, "accept") or "").startswith("text/html")
    is_redirect = candidate.status in (301, 302, 303, 307, 308)
    if media_type in PAGE_TYPES or (wants_page and is_redirect):
        return _Role.PAGE
    return _Role.PART


def from_har(content: bytes) -> Steps:
    """Read a HAR file.

    Kept are the requests to the server that got most of them, in the order they were started in. An entry that
    cannot be replayed is counted, no error.

    RecordingError: the file is no HAR file, has more than ``MAX_STEPS`` entries, or none can be replayed.
    """
    results = [judged(entry) for entry in entries_in(content)]
    candidates = [result for result in results if isinstance(result, Candidate)]
    skips = Skips()
    for number, result in enumerate(results, 1):
        if isinstance(result, Skip):
            skips.count(result, number)
    if not candidates:
        raise _nothing(skips, len(results))
    # the first of several
    origin = Counter(candidate.origin for candidate in candidates).most_common(1)[0][0]
    for number, result in enumerate(results, 1):
        if isinstance(result, Candidate) and result.origin != origin:
            skips.count(Skip.OTHER_SERVER, number)
    steps = _session_steps([candidate for candidate in candidates if candidate.origin == origin])
    return Steps(origin=origin, steps=steps, skipped=skips.counts())


def judged(entry: object) -> Candidate | Skip:
    """Return what is known of an entry that can be replayed, else why it cannot."""
    try:
        return judge(entry)
    except LeftOut as left_out:
        return left_out.skip


def entries_in(content: bytes) -> Iterator[object]:
    """Yield ``log.entries`` one by one, so that no more than one of them is held as objects."""
    try:
        text = _JsonText(content.removeprefix(b"\xef\xbb\xbf").decode())
        yield from _entries_of_log(text)
    except UnicodeDecodeError as error:
        raise _broken(f"byte {error.start + 1} is no UTF-8") from error
    except ValueError as error:
        raise error if isinstance(error, RecordingError) else _broken(str(error)) from error


def _entries_of_log(text: _JsonText) -> Iterator[object]:
    has_entries = False
    for name in text.members():
        if name != "log" or not text.begins("{"):
            text.skip()
            continue
        for part in text.members():
            if part != "entries" or not text.begins("["):
                text.skip()
                continue
            has_entries = True
            for number, entry in enumerate(text.items(), 1):
                if number > MAX_STEPS:
                    raise RecordingError(f"it has more than {MAX_STEPS} entries; record a shorter session")
                yield entry
    text.end()
    if not has_entries:
        raise RecordingError("it is JSON without a list log.entries; export the session as HAR 1.2")


def _broken(why: str) -> RecordingError:
    return RecordingError(f"it is not a whole HAR 1.2 file ({why}); export the session again")


def _nothing(skips: Skips, entries: int) -> RecordingError:
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


_BLANKS = re.compile(r"[ \t\n\r]*")
_STRINGS_AND_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]+|[\]}]+', re.DOTALL)


class _TooDeep:
    """A value with more levels than are read."""


_TOO_DEEP = _TooDeep()


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_no_number)


class _JsonText:
    """A cursor in ``text``. ValueError, with line and column: it is no JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = _after_blanks(text, 0)

    def begins(self, character: str) -> bool:
        """Tell whether the next value begins with ``character``."""
        return self._text.startswith(character, self._at)

    def members(self) -> Iterator[str]:
        """Yield each name of the next value, an object; its value is to be taken before the next name."""
        for _ in self._parts("{", "}", "an object"):
            if not self.begins('"'):
                self._wrong("Expecting property name enclosed in double quotes")
            name = self.value()
            self._take(":", "':'")
            assert isinstance(name, str)
            yield name

    def items(self) -> Iterator[object]:
        """Yield each item of the next value, a list."""
        for _ in self._parts("[", "]", "a list"):
            yield self.value()

    def _parts(self, first: str, last: str, name: str) -> Iterator[None]:
        """Stop before each part of the next value, which is to be taken then."""
        self._take(first, name)
        if self._accept(last):
            return
        yield
        while self._accept(","):
            yield
        self._take(last, f"',' or '{last}'")

    def value(self) -> object:
        """Return the next value; ``_TOO_DEEP`` where it has more levels than Python's stack."""
        try:
            value, end = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            self._wrong(str(error))
        except RecursionError:
            value, end = _TOO_DEEP, self._closing()
        self._at = _after_blanks(self._text, end)
        return value

    skip = value

    def end(self) -> None:
        """See that nothing follows."""
        if self._at < len(self._text):
            self._wrong("Extra data")

    def _closing(self) -> int:
        """Return where the brackets that open here are closed, whatever is between them."""
        depth = 0
        for part in _STRINGS_AND_BRACKETS.finditer(self._text, self._at):
            run = part[0]
            if run[0] in "[{":
                depth += len(run)
            elif run[0] in "]}":
                if depth <= len(run):
                    return part.start() + depth
                depth -= len(run)
        raise json.JSONDecodeError("Unclosed brackets", self._text, len(self._text))

    def _take(self, character: str, name: str) -> None:
        if not self._accept(character):
            self._wrong(f"Expecting {name}")

    def _accept(self, character: str) -> bool:
        if not self.begins(character):
            return False
        self._at = _after_blanks(self._text, self._at + 1)
        return True

    def _wrong(self, why: str) -> NoReturn:
        raise json.JSONDecodeError(why, self._text, self._at)


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    assert match is not None
    return match.end()
