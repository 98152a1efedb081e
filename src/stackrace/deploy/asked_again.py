"""What was wrong with answers under load: the stack is asked again, as often at once, until it does it again."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

from ..base.numbers import count, duration
from ..base.secrets import masked
from ..measure.load import Counts, Load, LoadResult
from ..measure.workload import MOST_BODY_BYTES, Answer, Order, Request, Workload
from .known_answers import name_of
from .visitor import Visitor, questions
from .wire import difference
from .wrong_answers import under_load

__all__ = ["WrongUnderLoad", "Wrongs", "fates"]

MOST_AT_ONCE = 32
MOST_PAGES = 3
LIMIT_S = 2.0
"""So long a stack is asked again; a slow answer may take it as long once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    """What was wrong with a page."""

    words: str = ""
    status: int = 0
    """The wrong status; 0 where that was right, or is not known."""
    server: str = ""
    """The Server header of the answer that had it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrongs:
    """What was wrong with the answers of a slice."""

    words: tuple[str, ...] = ()
    """A sentence for each page, and since when there were errors."""
    status: int = 0
    """The wrong status of the page that was answered wrongly most often; 0 where nobody knows it."""
    server: str = ""
    """The Server header of the answer that had it."""


class WrongUnderLoad:
    """Says of each page once what was wrong, and of each slice how often."""

    def __init__(self) -> None:
        self._causes: dict[tuple[str, str, str], _Cause] = {}
        """By stack, workload and page."""

    def describe(
        self,
        path: str,
        address: tuple[str, int],
        workload: Workload,
        load: Load,
        result: LoadResult,
        excused: Collection[str] = (),
    ) -> Wrongs:
        """Return what was wrong with each page that the stack ``path`` answered wrongly.

        ``excused`` are pages, named as ``GET /path``, whose bodies changed in the app itself.
        """
        pages = fates(workload, result)
        wrong = {name: _wrong(counts, name in excused) for name, counts in pages.items()}
        worst = sorted((name for name in wrong if wrong[name]), key=lambda name: -wrong[name])[:MOST_PAGES]
        if not worst:
            return Wrongs()
        unknown = {name for name in worst if (path, workload.name, name) not in self._causes}
        causes = _causes(address, workload, load, unknown)
        self._causes.update({(path, workload.name, name): causes[name] for name in unknown})
        since_s = next((piece.start_s for piece in result.series if piece.errors), 0.0)
        found = [self._causes[path, workload.name, name] for name in worst]
        return Wrongs(
            words=(
                *(
                    f"{name} {count(wrong[name])} of {count(pages[name].scheduled)}{cause.words}"
                    for name, cause in zip(worst, found, strict=True)
                ),
                f"the first error after {duration(since_s)}",
            ),
            status=found[0].status,
            server=found[0].server,
        )


def fates(workload: Workload, result: LoadResult) -> dict[str, Counts]:
    """Return what became of the requests by page; the engine counts by URL where there are several."""
    return {target.name: target.counts for target in result.targets} or {
        name_of(request): result.counts for request in workload.requests[:1]
    }


def _wrong(counts: Counts, excused: bool) -> int:
    return counts.non2xx + (0 if excused else counts.failed.get("body", 0))


def _causes(
    address: tuple[str, int], workload: Workload, load: Load, names: Collection[str]
) -> Mapping[str, _Cause]:
    """Ask until each page in ``names`` was answered wrongly again, and return what was wrong, by page."""
    causes: dict[str, _Cause] = {}
    over, deadline_s = Event(), time.monotonic() + LIMIT_S
    asked = questions(workload)
    known = {name_of(request): golden for request, golden in asked}
    wanted = known.keys() & set(names)
    if not wanted:
        return dict.fromkeys(names, _Cause())
    largest = max(len(golden.body) for _, golden in asked) or 1
    at_once = max(min(load.concurrency, MOST_AT_ONCE, MOST_BODY_BYTES // largest), 1)
    # all that are being read together take no more room than a few answers of the longest kind
    most_bytes = min(max(MOST_BODY_BYTES // at_once, 2 * largest), MOST_BODY_BYTES)

    def visit(number: int) -> None:
        # pages that do not depend on each other are asked for in another order by each, as under load
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
        reply = visitor.ask(request, LIMIT_S)
    except OSError:
        return None
    if not difference(reply, golden):
        return None
    words = f" ({under_load(name_of(request), reply, golden, known)})"
    status = reply.status if golden.status != reply.status else 0
    return _Cause(words=words, status=status, server=masked(reply.server) if status else "")
