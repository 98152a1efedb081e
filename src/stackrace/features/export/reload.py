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

    def alive() -> frozenset[int]:
        return frozenset(guard.status([pid])[pid].alive)

    first = last = alive()
    changed_s = time.monotonic()
    until = changed_s + _PATIENCE_S

    def is_renewed() -> bool:
        """Tell whether some have gone, if any could, and no more come or go."""
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
