"""Exported units reloaded under load: what was asked meanwhile, and what of it was not answered rightly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...base.errors import LaunchError, said_by
from ...base.numbers import duration
from ...deploy.guard import Guard
from ...deploy.running_stack import Running
from ...deploy.sockets import LOOPBACK
from ...measure.engine.visitor import ask
from ...measure.workload import Answer, Request
from .equivalence import Reloaded

_CLIENTS = 4
"""Each asks again as soon as it was answered, over a new connection."""
_AROUND = 20
"""So many answers at least before a reload, and after it."""
_PATIENCE_S = 150.0
"""More than old workers have to end what they work on, and new ones to load the app."""
_SETTLED_S = 2.0
"""A reload is over when no process has come or gone for so long: some helpers of a server stay."""
_LOOK_S = 0.05


@contextmanager
def _asking(port: int, host: str, request: Request, right: Answer) -> Iterator[list[str]]:
    """Ask again and again; yield what was wrong with each answer so far, empty for nothing."""
    answers: list[str] = []
    over = threading.Event()

    def ask_on() -> None:
        while not over.is_set():
            try:
                status, *_ = ask((LOOPBACK, port), request, host, timeout_s=_PATIENCE_S)
                wrong = "" if status == right.status else f"status {status}"
            except OSError as error:
                wrong = said_by(error)
            answers.append(wrong)
            if wrong:
                # where nobody listens an answer is there at once
                time.sleep(_LOOK_S)

    threads = [threading.Thread(target=ask_on, daemon=True) for _ in range(_CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        over.set()
        for thread in threads:
            thread.join()


class _Family:
    """The processes of a server, as they come and go."""

    def __init__(self, guard: Guard, pid: int) -> None:
        self._guard, self._pid = guard, pid
        self._first = self._last = self._now()
        self._changed_s = time.monotonic()

    def _now(self) -> frozenset[int]:
        return frozenset(self._guard.status([self._pid])[self._pid].alive)

    def is_renewed(self) -> bool:
        """Tell whether some have gone, if any could, and no more come or go."""
        now = self._now()
        if now != self._last:
            self._last, self._changed_s = now, time.monotonic()
        settled = time.monotonic() - self._changed_s > _SETTLED_S
        return settled and (len(self._first) == 1 or bool(self._first - now))


def reloaded(
    running: Running,
    number: int,
    guard: Guard,
    reload: Callable[[int], None],
    host: str,
    question: tuple[Request, Answer],
) -> Reloaded:
    """Have ``reload`` renew the process ``number`` of a stack while clients ask ``host`` the ``question``.

    It is given the first process' pid, and done when others have taken the place of the processes that were there,
    if there were any, and answers are right again. Raises LaunchError where that does not come to be.
    """
    part, pid = running.parts[number]
    family = _Family(guard, pid)
    until = time.monotonic() + _PATIENCE_S

    def wait(done: Callable[[], bool], what: str) -> None:
        while not done():
            status = guard.status([pid])[pid]
            if status.code is not None:
                raise LaunchError(f"{part.hop} ended at its reload")
            if time.monotonic() > until:
                raise LaunchError(f"{part.hop} {what} {duration(_PATIENCE_S)} after its reload")
            time.sleep(_LOOK_S)

    with _asking(running.port, host, *question) as answers:
        wait(lambda: answers.count("") >= _AROUND, "does not answer")
        reload(pid)
        wait(family.is_renewed, "still has its old processes")
        enough = answers.count("") + _AROUND
        wait(lambda: answers.count("") >= enough, "does not answer")
    lost = [wrong for wrong in answers if wrong]
    return Reloaded(hop=part.hop, asked=len(answers), lost=len(lost), why=lost[0] if lost else "")
