"""Reload of exported units under load, and the requests that it loses."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ...base.errors import LaunchError
from ...base.numbers import duration
from ...deploy.incident import LoadedStack
from ...deploy.local_machine import LocalMachine
from ...measure.load import Load
from ...measure.workload import Answer, Request, Sameness, Workload
from ...report.words.load_sentences import losses
from ...stacks.stack import Stack
from .equivalence import Reloaded

_AROUND = 20
"""Right answers to wait for before a reload, and again after it."""
_PATIENCE_S = 150.0
"""Longest wait: more than old workers have to finish their requests, and new ones to load the app."""
_SETTLED_S = 2.0
"""Time without a started or ended process after which a reload is over: some helpers of a server stay."""
_LOOK_S = 0.05
_LOAD = Load(concurrency=4, keep_alive=False, timeout_s=_PATIENCE_S, duration_s=3 * _PATIENCE_S)
"""Four clients; each asks again as soon as it has an answer, over a new connection. The reload ends it."""


def reloaded(
    machine: LocalMachine,
    stack: Stack,
    number: int,
    reload: Callable[[int], None],
    host: str,
    question: tuple[Request, Answer],
) -> Reloaded:
    """Return the result of ``reload`` for a stack's process ``number`` while clients ask ``host`` the ``question``.

    ``reload`` gets the first process' pid. It is done when other processes have replaced the old ones, if any could
    be, and answers are right again. Raises LaunchError if that does not happen.
    """
    request, right = question
    part, _ = machine.running(stack).parts[number]
    workload = Workload(
        requests=(replace(request, think_s=0.0, embedded=False, handouts=(), fills=()),),
        answers=(replace(right, sameness=Sameness.STATUS),),
        host=host,
        # another name than the race's own, whose answers may have changed
        name="reload",
    )
    observed = machine.load(stack, workload, _LOAD, 0.0, meanwhile=partial(_reload, number, reload))
    return Reloaded(
        hop=part.hop,
        asked=observed.tried,
        lost=observed.result.counts.errors,
        why=losses(workload.answers, observed.result),
        known=part.recipe.reload.loses if part.recipe.reload else "",
    )


def _reload(number: int, reload: Callable[[int], None], stack: LoadedStack) -> None:
    """Call ``reload`` amid right answers; return once it is done and no request from before that is under way."""
    first = last = stack.processes[number]
    changed_s = time.monotonic()
    until = changed_s + _PATIENCE_S

    def is_renewed() -> bool:
        """Return True if some workers have gone, if there were any, and no more come or go."""
        nonlocal last, changed_s
        now = stack.processes[number]
        if now != last:
            last, changed_s = now, time.monotonic()
        is_settled = time.monotonic() - changed_s > _SETTLED_S
        return is_settled and (not first.workers or bool(first.workers - now.workers))

    def wait(done: Callable[[], bool], what: str) -> None:
        while not done():
            if stack.processes[number].code is not None:
                raise LaunchError(f"{first.hop} ended at its reload")
            if time.monotonic() > until:
                raise LaunchError(f"{first.hop} {what} {duration(_PATIENCE_S)} after its reload")
            time.sleep(_LOOK_S)

    wait(lambda: stack.right >= _AROUND, "does not answer")
    reload(first.first)
    wait(is_renewed, "still has its old processes")
    enough, under_way = stack.right + _AROUND, stack.clients
    wait(lambda: stack.right >= enough, "does not answer")
    # what is under way when the load is cut off is not lost: a request left hanging is one only when it times out
    while under_way & stack.clients and time.monotonic() < until + _PATIENCE_S:
        time.sleep(_LOOK_S)
