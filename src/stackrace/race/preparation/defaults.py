"""Defaults of a race: the most used stacks, the usual levels, three minutes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ...base.errors import InputError, StackError
from ...deploy.installation import unready
from ...stacks.servers import Catalogue
from ...stacks.setting import Interface
from ...stacks.stack import Stack
from ...stacks.stack_path import parse_stack
from ..request.request import RaceRequest
from ..results.race import LeftOut

STACKS = (
    "gunicorn",
    "gunicorn:class=gthread",
    "nginx/http/gunicorn",
    "uwsgi",
    "nginx/uwsgi/uwsgi",
    "apache+mod_wsgi",
    "uvicorn",
    "granian",
    "waitress",
    "nginx/http/apache+mod_wsgi",
    # where nginx or Apache are missing, these follow
    "cheroot",
    "granian:interface=asgi",
    "hypercorn",
    "gunicorn:class=uvicorn",
    "daphne",
    # for Rack apps and plain files
    "puma",
    "nginx/http/puma",
    "apache+passenger",
    "nginx",
    "apache",
    "lighttpd",
)
"""Default stacks, in the order in which they are taken if they are ready and host the app. All have the catalogue's
defaults, which are two processes for servers with processes."""

MOST_STACKS = 7
"""The most default stacks: three minutes decide between seven more often than between eight or ten, see
docs/decisions/0029-default-race.md."""
CONCURRENCY = (1, 10, 100)
SLOW_CONCURRENCY = ((1, 10, 40), (1, 4, 10), (1, 2, 4), (1, 2), (1,))
"""Levels for slow pages, whose visitors would wait too long at ``CONCURRENCY``; the first suitable entry is
used."""

LONGEST_RESPONSE_S = 2.5
"""The longest acceptable answer at default levels; no visitor waits longer for a page."""

_BUDGET_S = 180.0


def budget_s_of(request: RaceRequest) -> float | None:
    """Return the budget in seconds; None for runs without a budget."""
    return request.budget_s or (None if request.repeats else _BUDGET_S)


def levels_of(request: RaceRequest) -> tuple[int, ...]:
    """Return the requested numbers of connections, ascending, else the usual ones."""
    return tuple(sorted(set(request.concurrency or CONCURRENCY)))


def most_used(
    catalogue: Catalogue, offered: frozenset[Interface], python: tuple[int, int] | None
) -> tuple[tuple[Stack, ...], tuple[LeftOut, ...]]:
    """Return the most used stacks that are ready here and host the app, and the stacks left out, with reasons.

    ``python`` is the app's Python version, such as (3, 12); None for an app without Python. Raises InputError if no
    stack is ready.
    """
    stacks: list[Stack] = []
    left_out: list[LeftOut] = []
    for stack in _hosting(catalogue, offered):
        if len(stacks) == MOST_STACKS:
            break
        if reason := unready(stack, catalogue, python):
            left_out.append(LeftOut(stack=stack.path, reason=reason))
        else:
            stacks.append(stack)
    if not stacks:
        raise InputError("none of the most used stacks is ready here; see: stackrace stacks")
    return tuple(stacks), tuple(left_out)


def _hosting(catalogue: Catalogue, offered: frozenset[Interface]) -> Iterator[Stack]:
    """Yield the most used stacks that host the app, each once: two paths may mean the same ASGI stack."""
    identities = set()
    for path in STACKS:
        with suppress(StackError):
            stack = parse_stack(path, catalogue.specs, offered)
            if stack.identity not in identities:
                identities.add(stack.identity)
                yield stack
