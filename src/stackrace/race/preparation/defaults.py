"""What is raced when nobody says what: the most used stacks first, at the usual levels, for three minutes."""

from __future__ import annotations

from ..request.request import RaceRequest

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
    # for Rack apps and plain files, which none of the others hosts
    "puma",
    "nginx/http/puma",
    "apache+passenger",
    "nginx",
    "apache",
    "lighttpd",
)
"""In the order in which they are taken, as far as they are ready and the app offers what they host. All with the
catalogue's defaults, which are two processes wherever there are processes."""

MOST_STACKS = 7
"""Three minutes answer among so many more often than among eight or ten: docs/decisions/0029-default-race.md."""
CONCURRENCY = (1, 10, 100)
SLOW_CONCURRENCY = ((1, 10, 40), (1, 4, 10), (1, 2, 4), (1, 2), (1,))
"""For slow pages, whose visitors would wait too long at the levels above: the first that suits."""

LONGEST_RESPONSE_S = 2.5
"""Default levels are such that an answer takes no longer; nobody waits for a page that does."""

_BUDGET_S = 180.0


def budget_s_of(request: RaceRequest) -> float | None:
    """Return the seconds that the race may take: runs take as long as they take, slices are cut to fit."""
    return request.budget_s or (None if request.repeats else _BUDGET_S)


def levels_of(request: RaceRequest) -> tuple[int, ...]:
    """Return the numbers of connections asked for, ascending, else the usual ones."""
    return tuple(sorted(set(request.concurrency or CONCURRENCY)))
