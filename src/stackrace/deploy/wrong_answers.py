"""Right answers of a race, as the app itself has given them, and descriptions of wrong answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event

from ..app.examination import Exchange, has_toolbar
from ..app.golden import common_bytes, in_words, loosened
from ..base.errors import StackraceError
from ..base.numbers import count, duration
from ..base.secrets import masked
from ..measure.engine.visitor import Reply, Visitor, difference, questions
from ..measure.load import Counts, Load, LoadResult
from ..measure.workload import MOST_BODY_BYTES, Answer, AnswerOrigin, Order, Request, Sameness, Workload

_MOST_DOUBTS = 3
"""Number of times to ask the app about a page; after that the stack is wrong."""
_SEARCHES = 4
"""Number of searches; each takes up to three seconds or a thousand answers."""

_Ask = Callable[[Sequence[Request]], Sequence[Exchange]]
"""Function that asks the app itself, many times; raises StackraceError if it does not answer."""


@dataclass(slots=True)
class KnownAnswers:
    """Right answers of a race's workloads; without ``ask`` the app cannot be asked, and they never change."""

    ask: _Ask | None = None
    _current: dict[str, Workload] = field(default_factory=dict)
    _doubts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _pages: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def now(self, workload: Workload) -> Workload:
        """Return ``workload`` with the current right answers."""
        return self._current.get(workload.name, workload)

    def pages(self, workload: Workload) -> tuple[str, ...]:
        """Return the pages that changed in the app itself since the race began, as ``GET /path``."""
        return self._pages.get(workload.name, ())

    def doubt(self, workload: Workload, accused: Sequence[Request]) -> frozenset[str]:
        """Ask the app itself again for a stack's ``accused`` pages; return the pages whose answers are loosened.

        Pages are named as ``GET /path``. Recorded statuses, files and the user's own checks are never loosened.
        """
        workload = self.now(workload)
        pairs = zip(workload.requests, workload.answers, strict=True)
        names = {name_of(request) for request in accused}
        asked = {name_of(request): (request, answer) for request, answer in pairs if name_of(request) in names}
        doubtful = {name: pair for name, pair in asked.items() if self._may_doubt(name, workload, pair[1])}
        return self._check_again(workload, doubtful)

    def search(self, workload: Workload, pages: Collection[str]) -> None:
        """Ask the app for ``pages`` very often, and loosen the answers that change.

        The search shows whether pages that change in another version of the app change in this version, too. A
        change in one answer of 200 is missed less than once in a hundred times.
        """
        for _ in range(_SEARCHES):
            current = self.now(workload)
            pairs = zip(current.requests, current.answers, strict=True)
            left = {name_of(request): (request, answer) for request, answer in pairs if _may_change(answer)}
            left = {name: left[name] for name in left.keys() & {*pages} - {*self.pages(workload)}}
            if not left:
                break
            self._check_again(current, left)

    def _check_again(self, workload: Workload, doubtful: Mapping[str, tuple[Request, Answer]]) -> frozenset[str]:
        if self.ask is None or not doubtful:
            return frozenset()
        try:
            exchanges = self.ask([request for request, _ in doubtful.values()])
        except StackraceError:
            return frozenset()
        answers = {
            name: new
            for (name, (_, answer)), exchange in zip(doubtful.items(), exchanges, strict=True)
            if (new := loosened(answer, exchange)) is not None
        }
        if answers:
            self._loosen(workload, answers)
        return frozenset(answers)

    def _may_doubt(self, name: str, workload: Workload, answer: Answer) -> bool:
        self._doubts[workload.name, name] += 1
        return _may_change(answer) and self._doubts[workload.name, name] <= _MOST_DOUBTS

    def _loosen(self, workload: Workload, answers: dict[str, Answer]) -> None:
        pairs = zip(workload.requests, workload.answers, strict=True)
        current = tuple(answers.get(name_of(request), answer) for request, answer in pairs)
        self._current[workload.name] = replace(workload, answers=current)
        self._pages[workload.name] = tuple(dict.fromkeys((*self.pages(workload), *answers)))


def _may_change(answer: Answer) -> bool:
    return answer.origin is AnswerOrigin.APP and answer.sameness is not Sameness.STATUS


def name_of(request: Request) -> str:
    """Return a page's name, as the engine writes it: ``GET /path``."""
    return f"{request.method} {request.path}"


_SAFE = ("GET", "HEAD", "OPTIONS")
_REFUSED_FORMS = (400, 403, 419, 422)
"""Statuses by which Flask-WTF, Django, Laravel and Rails refuse a form with a foreign token."""

_CSRF = (
    "its CSRF token is refused: a visitor sends the token of the page before, so the HAR file must hold that page "
    "with its body, from the login on, and begin without cookies; or exempt the view in a copy of the app"
)
_NO_FRONT_END = (
    "the app itself does not have this static file, only a front end sends it: race stacks with a front end, or "
    "have the app send its files (WhiteNoise)"
)

_DEBUG = (
    "the app is in its debug mode, in which pages may depend on who asks (Django's INTERNAL_IPS; behind a socket "
    "nobody is internal): race it with DEBUG = False"
)

_SHOWN = 60
_BEFORE = 12


def accusation(request: Request, reply: Reply, golden: Answer, *, debug: bool = False) -> str:
    """Return how ``reply`` differs from the right answer, and a likely remedy.

    ``debug`` is true if the app is in debug mode.
    """
    said = difference(reply, golden)
    if reply.excess:
        return said
    if golden.origin is AnswerOrigin.FILE and reply.status == 404:
        return f"status 404: {_NO_FRONT_END}"
    if _is_refused_form(request, reply, golden):
        return f"{said}; {_CSRF}"
    if golden.status is not None and reply.status != golden.status:
        return said
    said += _first_difference(reply, golden)
    debug = debug and not has_toolbar(golden.body or b"")
    if debug:
        said = f"{said}; {_DEBUG}"
    words = in_words(golden.body, reply.body) if golden.body else ""
    if not words:
        return said
    rule = (
        f'check = {{ "{request.path}" = "status" }} (--check \'{request.path} status\') or a text it must contain'
    )
    return f"{said}; {'or ' if debug else ''}{words}: say what a right answer is with {rule}"


def _under_load(name: str, reply: Reply, golden: Answer, known: Mapping[str, Answer]) -> str:
    """Return what is wrong with ``reply`` to the page ``name``, whose answer was right before the load.

    ``known`` holds the right answers of all pages, by name: an answer may be another page's.
    """
    said = difference(reply, golden)
    if reply.excess:
        return said
    if golden.status is not None and reply.status != golden.status:
        return f"{said}: {_excerpt(_masked(reply.body))}" if reply.body else said
    for other, answer in known.items() if reply.body else ():
        if other != name and answer.sameness is Sameness.BODY and reply.body == answer.body:
            return f"it got the answer to {other}"
    if golden.body != reply.body and golden.body.startswith(reply.body):
        return f"its answer is cut off after {count(len(reply.body))} of {count(len(golden.body))} bytes"
    return said + _first_difference(reply, golden)


def _first_difference(reply: Reply, golden: Answer) -> str:
    if golden.sameness is not Sameness.BODY or not golden.body:
        return ""
    shown = [_masked(body) for body in (reply.body, golden.body)]
    alike = common_bytes(*shown)
    texts = (_excerpt(body[max(0, alike - _BEFORE) :]) for body in shown)
    return f": from byte {count(alike)} on {' where the app has '.join(texts)}"


def _masked(body: bytes) -> bytes:
    """Return ``body`` with secrets masked, otherwise unchanged: an excerpt may begin or end within a secret."""
    return masked(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _excerpt(body: bytes) -> str:
    return repr(body[:_SHOWN].decode("utf-8", "replace"))


def _is_refused_form(request: Request, reply: Reply, golden: Answer) -> bool:
    if request.method in _SAFE or reply.status not in _REFUSED_FORMS or reply.status == golden.status:
        return False
    return reply.status == 403 or b"csrf" in reply.body.lower() or b"authenticity" in reply.body.lower()


_MOST_AT_ONCE = 32
_MOST_PAGES = 3
_LIMIT_S = 2.0
"""Seconds for which a stack is asked again; a slow answer may take as long once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    words: str = ""
    status: int = 0
    """The wrong status; 0 if the status was right, or is unknown."""
    server: str = ""
    """Server header of the answer with the wrong status."""


class WrongUnderLoad:
    """Descriptions of wrong answers: the cause is sought once for each page, the count is given for each slice."""

    def __init__(self) -> None:
        self._causes: dict[tuple[str, str, str], _Cause] = {}

    def describe(
        self,
        path: str,
        address: tuple[str, int],
        workload: Workload,
        load: Load,
        result: LoadResult,
        excused: Collection[str] = (),
    ) -> tuple[tuple[str, ...], _Cause]:
        """Return sentences about the wrong answers of a slice, and the cause for the page with most of them.

        There is a sentence for each of the pages that the stack ``path`` most often answered wrongly, at most
        ``_MOST_PAGES``, and one for the time of the first error; none without a wrong answer. ``excused`` are
        pages, named as ``GET /path``, whose bodies changed in the app itself.
        """
        pages = fates(workload, result)
        wrong = {
            name: counts.non2xx + (0 if name in excused else counts.failed.get("body", 0))
            for name, counts in pages.items()
        }
        worst = sorted((name for name in wrong if wrong[name]), key=lambda name: -wrong[name])[:_MOST_PAGES]
        if not worst:
            return (), _Cause()
        unknown = {name for name in worst if (path, workload.name, name) not in self._causes}
        causes = _causes(address, workload, load, unknown)
        self._causes.update({(path, workload.name, name): causes[name] for name in unknown})
        since_s = next((piece.start_s for piece in result.series if piece.errors), 0.0)
        found = [self._causes[path, workload.name, name] for name in worst]
        said = (
            f"{name} {count(wrong[name])} of {count(pages[name].scheduled)}{cause.words}"
            for name, cause in zip(worst, found, strict=True)
        )
        return (*said, f"the first error after {duration(since_s)}"), found[0]


def fates(workload: Workload, result: LoadResult) -> dict[str, Counts]:
    """Return the counts of requests by page; the engine counts by URL if there are several."""
    return {target.name: target.counts for target in result.targets} or {
        name_of(request): result.counts for request in workload.requests[:1]
    }


def _causes(
    address: tuple[str, int], workload: Workload, load: Load, names: Collection[str]
) -> Mapping[str, _Cause]:
    causes: dict[str, _Cause] = {}
    over, deadline_s = Event(), time.monotonic() + _LIMIT_S
    asked = questions(workload)
    known = {name_of(request): golden for request, golden in asked}
    wanted = known.keys() & set(names)
    if not wanted:
        return dict.fromkeys(names, _Cause())
    largest = max(len(golden.body) for _, golden in asked) or 1
    at_once = max(min(load.concurrency, _MOST_AT_ONCE, MOST_BODY_BYTES // largest), 1)
    # all answers that are read at the same time take no more memory than a few of the longest
    most_bytes = min(max(MOST_BODY_BYTES // at_once, 2 * largest), MOST_BODY_BYTES)

    def visit(number: int) -> None:
        # each visitor asks for independent pages in another order, as under load
        turn = number % len(asked) if workload.order is Order.TURN else 0
        while True:
            visitor = Visitor(*address, workload, most_bytes)
            for request, golden in (*asked[turn:], *asked[:turn]):
                if over.is_set() or time.monotonic() > deadline_s:
                    return
                cause = _cause(visitor, request, golden, known)
                if cause is not None and name_of(request) in wanted:
                    causes.setdefault(name_of(request), cause)
                if len(causes) == len(wanted):
                    over.set()

    with ThreadPoolExecutor(at_once) as pool:
        try:
            list(pool.map(visit, range(at_once)))
        finally:
            over.set()
    right = dict.fromkeys(wanted, _Cause(words=" (asked again, it answered rightly)"))
    return dict.fromkeys(names, _Cause()) | right | causes


def _cause(visitor: Visitor, request: Request, golden: Answer, known: Mapping[str, Answer]) -> _Cause | None:
    try:
        reply = visitor.ask(request, _LIMIT_S)
    except OSError:
        return None
    if not difference(reply, golden):
        return None
    words = f" ({_under_load(name_of(request), reply, golden, known)})"
    status = reply.status if golden.status != reply.status else 0
    return _Cause(words=words, status=status, server=masked(reply.server) if status else "")
