"""What is raced when nobody says what: the most used stacks first, at equal process counts."""

from __future__ import annotations

__all__ = ["BUDGET_S", "CONCURRENCY", "MOST_STACKS", "STACKS"]

STACKS = (
    "gunicorn:workers=2",
    "gunicorn:workers=2,class=gthread,threads=4",
    "nginx/http/gunicorn:workers=2",
    "uwsgi:processes=2",
    "nginx/uwsgi/uwsgi:processes=2",
    "apache+mod_wsgi:mode=daemon,processes=2,threads=4",
    "uvicorn:workers=2",
    "granian:workers=2",
    "waitress:threads=4",
    "nginx/http/apache+mod_wsgi:mode=daemon,processes=2,threads=4",
    # where nginx or Apache are missing, these follow
    "cheroot",
    "granian:interface=asgi,workers=2",
    "hypercorn:workers=2",
    "gunicorn:workers=2,class=uvicorn",
    "daphne",
)
"""In the order in which they are taken, as far as they are ready and the app offers what they host."""

MOST_STACKS = 10
CONCURRENCY = (1, 10, 100)
BUDGET_S = 180.0
