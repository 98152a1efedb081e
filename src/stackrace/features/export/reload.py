"""Reload of exported units under load, and the requests that it loses."""

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
"""Number of clients; each asks again as soon as it has an answer, over a new connection."""
_AROUND = 20
"""Answers to wait for before a reload, and again after it."""
_PATIENCE_S = 150.0
"""Longest wait: more than old workers have to finish their requests, and new ones to load the app."""
_SETTLED_S = 2.0
"""Time without a started or ended process after which a reload is over: some helpers of a server stay."""
_LOOK_S = 0.05


@contextmanager
def _asking(port: int, host: str, request: Request, right: Answer) -> Iterator[list[str]]:
    """Ask again and again; yield the problems of all answers so far, empty if right."""
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
                # without a listener the error comes at once
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


def reloaded(
    running: Running,
    number: int,
    guard: Guard,
    reload: Callable[[int], None],
    host: str,
    question: tuple[Request, Answer],
) -> Reloaded:
    """Return the result of ``reload`` for a stack's process ``number`` while clients ask ``host`` the ``question``.

    ``reload`` gets the first process' pid. It is done when other processes have replaced the old ones, if any could
    be, and answers are right again. Raises LaunchError if that does not happen.
    """
    part, pid = running.parts[number]

    def alive() -> frozenset[int]:
        return frozenset(guard.status([pid])[pid].alive)

    first = last = alive()
    changed_s = time.monotonic()
    until = changed_s + _PATIENCE_S

    def is_renewed() -> bool:
        """Return True if some processes have gone, if any could, and no more come or go."""
        nonlocal last, changed_s
        now = alive()
        if now != last:
            last, changed_s = now, time.monotonic()
        is_settled = time.monotonic() - changed_s > _SETTLED_S
        return is_settled and (len(first) == 1 or bool(first - now))

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
        wait(is_renewed, "still has its old processes")
        enough = answers.count("") + _AROUND
        wait(lambda: answers.count("") >= enough, "does not answer")
    lost = [wrong for wrong in answers if wrong]
    known = part.recipe.reload.loses if part.recipe.reload else ""
    return Reloaded(hop=part.hop, asked=len(answers), lost=len(lost), why=lost[0] if lost else "", known=known)
