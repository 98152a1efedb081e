"""Services that an app is set up for, and why that is thought."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .survey import ProjectSurvey

__all__ = ["Suggestion", "suggestions"]

_ENGINES = {"postgresql": "postgresql", "postgis": "postgresql", "mysql": "mariadb"}
_CACHES = {"redis": "redis", "memcached": "memcached"}
_PACKAGES = {
    "postgresql": ("psycopg", "psycopg2", "psycopg2-binary", "asyncpg"),
    "mariadb": ("mysqlclient", "pymysql", "aiomysql", "asyncmy"),
    "redis": ("redis", "aioredis"),
    "memcached": ("pymemcache", "python-memcached", "pylibmc"),
}
"""Clients, by service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A service that a race could start."""

    service: str
    reason: str


def suggestions(survey: ProjectSurvey) -> tuple[Suggestion, ...]:
    """Return the services of the settings; of an app without Django's those whose clients are installed."""
    every = list(_of_settings(survey) if survey.examination.django is not None else _of_packages(survey))
    return tuple({suggestion.service: suggestion for suggestion in reversed(every)}.values())[::-1]


def _of_settings(survey: ProjectSurvey) -> Iterator[Suggestion]:
    listed = survey.examination.survey
    for database in listed.databases:
        if service := _ENGINES.get(database.engine):
            place = f" at {database.place}" if database.place else ""
            yield Suggestion(service=service, reason=f"DATABASES has {database.engine}{place}")
    for backend in listed.caches:
        for sign, service in _CACHES.items():
            if sign in backend.lower():
                yield Suggestion(service=service, reason=f"CACHES has {backend}")


def _of_packages(survey: ProjectSurvey) -> Iterator[Suggestion]:
    facts = survey.examination.python
    installed = {name.lower() for name in facts.distributions} if facts is not None else set()
    for service, packages in _PACKAGES.items():
        if clients := [name for name in packages if name in installed]:
            yield Suggestion(service=service, reason=f"{clients[0]} is installed")
