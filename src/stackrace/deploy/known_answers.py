"""What right answers are, as far as the app itself has shown it: a doubt has the app asked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..app import Exchange, loosened
from ..base.errors import StackraceError
from ..measure.workload import Answer, AnswerOrigin, Request, Sameness, Workload

__all__ = ["KnownAnswers", "name_of"]

MOST_DOUBTS = 3
"""A page for which the app was asked so often says nothing new: then the stack is wrong."""

Ask = Callable[[Sequence[Request]], Sequence[Exchange]]
"""Asks the app itself, many times; raises StackraceError where it does not answer."""


@dataclass(slots=True)
class KnownAnswers:
    """The right answers of a race's workloads. Without ``ask`` nobody can be asked, and they never change."""

    ask: Ask | None = None
    _current: dict[str, Workload] = field(default_factory=dict)
    """Workloads whose answers were loosened, by name."""
    _doubts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _pages: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By workload the pages whose answers were loosened."""

    def now(self, workload: Workload) -> Workload:
        """Return ``workload`` with the answers that are right by now."""
        return self._current.get(workload.name, workload)

    def pages(self, workload: Workload) -> tuple[str, ...]:
        """Return the pages that were seen to change in the app itself since the race began, as ``GET /path``."""
        return self._pages.get(workload.name, ())

    def doubt(self, workload: Workload, accused: Sequence[Request]) -> frozenset[str]:
        """Ask the app itself again for what a stack is ``accused`` of, and return what is loosened by that.

        Pages are named as ``GET /path``. Recorded statuses, files and what the user demands stand as they are.
        """
        workload = self.now(workload)
        pairs = zip(workload.requests, workload.answers, strict=True)
        names = {name_of(request) for request in accused}
        asked = {name_of(request): (request, answer) for request, answer in pairs if name_of(request) in names}
        doubtful = {name: pair for name, pair in asked.items() if self._may_doubt(name, workload, pair[1])}
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
        own = answer.origin is AnswerOrigin.APP and answer.sameness is not Sameness.STATUS
        return own and self._doubts[workload.name, name] <= MOST_DOUBTS

    def _loosen(self, workload: Workload, answers: dict[str, Answer]) -> None:
        pairs = zip(workload.requests, workload.answers, strict=True)
        current = tuple(answers.get(name_of(request), answer) for request, answer in pairs)
        self._current[workload.name] = replace(workload, answers=current)
        self._pages[workload.name] = tuple(dict.fromkeys((*self.pages(workload), *answers)))


def name_of(request: Request) -> str:
    """Name a page as the engine does: ``GET /path``."""
    return f"{request.method} {request.path}"
