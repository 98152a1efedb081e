"""Why an answer cannot be raced, and the way out, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote
from urllib.parse import urljoin, urlsplit

from ..base.errors import AppError
from .app import Entry
from .examination import Examination, Exchange, Reply
from .examiner import interface
from .examiner.messages import ObjectReport
from .hints import failure_words, service_hint
from .projects.frameworks import OWN_SERVERS

__all__ = ["lacks_static_files", "lacks_tables", "other_object", "refusal", "refusals"]

_MOST_ROUTES = 12
_ANOTHER_URL = "race another page with --url or [workload] urls"
_NO_STATIC = "Missing staticfiles manifest entry"
_NO_TABLE = re.compile("no such table|UndefinedTable|Table '.*' doesn't exist")


def refusal(exchange: Exchange, reply: Reply, examination: Examination) -> AppError:
    """Return the error for a ``reply`` to ``exchange`` that is no success."""
    path = exchange.request.path
    via = f" (after a redirect from {exchange.via})" if exchange.via else ""
    said = f"{path} answers {reply.status}{via}"
    if reply.status == 400:
        return AppError(f"{said}: {_bad_request(examination)}")
    if reply.status in (301, 302, 303, 307, 308):
        return AppError(f"{said}: {_redirect(path, reply, examination)}")
    if reply.status in (401, 403):
        return AppError(f"{said}: it wants a login; give its cookie in [workload] headers, or {_ANOTHER_URL}")
    if reply.status == 404:
        return AppError(f"{said}: {_not_found(examination)}")
    if reply.status >= 500:
        return AppError(f"{said}: {_server_error(reply, examination)}", detail=reply.traceback)
    if reply.excess:
        return AppError(f"{path}{via} gives an answer that {reply.excess}; {_ANOTHER_URL}")
    return AppError(f"{said}, which is no success; {_ANOTHER_URL}")


def refusals(errors: Sequence[AppError]) -> AppError:
    """Return one error for all ``errors``; a traceback that several share is shown once."""
    if len(errors) == 1:
        return errors[0]
    lines = "\n".join(f"  {error.message}" for error in errors)
    details = dict.fromkeys(error.detail for error in errors if error.detail)
    return AppError(f"{len(errors)} URLs cannot be raced:\n{lines}", detail="\n".join(details))


def other_object(entry: Entry, found: ObjectReport) -> str:
    """Say what ``entry`` names where it is no application of its interface, and how to name that instead."""
    kind, name, package = found["interface"], found["type"], found["type"].partition(".")[0]
    if kind == interface.FACTORY:
        call = quote(f"{entry.target}()")
        return (
            f"{entry.target} is a function without arguments, no {entry.kind.upper()} application; "
            f"if it makes one, give --{entry.kind} {call} ([app] {entry.kind})"
        )
    if kind != interface.NONE:
        flag = f"--{kind} {quote(entry.target)} ([app] {kind})"
        return f"{entry.target} ({name}) has the interface {kind.upper()}, not {entry.kind.upper()}; give {flag}"
    said = f"{entry.target} ({name}) is neither a WSGI nor an ASGI application, so no server here can call it"
    if package in OWN_SERVERS:
        return f"{said}: {package} brings the only server that runs it, also where that is a worker of another"
    return f"{said}; name the app's own callable with --wsgi or --asgi"


def _bad_request(examination: Examination) -> str:
    django = examination.django
    if django is None:
        return (
            f"is the Host {examination.host} refused? Give the right one in [workload] host; "
            "or does the URL lack a parameter?"
        )
    if not django.allowed_hosts:
        return f"ALLOWED_HOSTS in {examination.entry.target} is empty, so no Host will do; add 127.0.0.1 to it"
    hosts = ", ".join(django.allowed_hosts)
    return f"the Host {examination.host} is refused; give one of ALLOWED_HOSTS ({hosts}) in [workload] host"


def _redirect(path: str, reply: Reply, examination: Examination) -> str:
    target = urljoin(f"http://{examination.host}{path}", reply.header("location"))
    parts = urlsplit(target)
    if parts.scheme == "https" and parts.netloc == examination.host:
        return _https(examination)
    if parts.netloc == examination.host:
        local = parts.path + (f"?{parts.query}" if parts.query else "")
        return f"it redirects to {local}; race that with --url {local} or [workload] urls"
    return f"it redirects to {target}, another site; {_ANOTHER_URL}, or set [workload] host"


def _https(examination: Examination) -> str:
    django = examination.django
    if django is None:
        return f"it redirects to https; {_as_proxy('X-Forwarded-Proto')}"
    if django.https_header:
        return f"it redirects to https; {_as_proxy(django.https_header)}"
    return (
        f"it redirects to https (SECURE_SSL_REDIRECT in {examination.entry.target}); "
        'with SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") there, Stackrace sends it'
    )


def _as_proxy(header: str) -> str:
    value = "on" if header == "X-Forwarded-Ssl" else "https"
    return f'say what a TLS proxy would: [workload] headers = {{ "{header}" = "{value}" }}'


def _not_found(examination: Examination) -> str:
    routes = examination.django.routes if examination.django is not None else ()
    if examination.files:
        return f"no such file; there are {_listed(examination.files)}; choose with --url or [workload] urls"
    if not routes:
        return f"no such page; {_ANOTHER_URL}; stackrace init lists the app's pages"
    return f"no such page; the project's routes are {_listed(routes)}; choose with --url or [workload] urls"


def _listed(paths: tuple[str, ...]) -> str:
    return ", ".join(paths[:_MOST_ROUTES]) + (", …" if len(paths) > _MOST_ROUTES else "")


def lacks_tables(reply: Reply) -> bool:
    """Tell whether the app failed because its database was never migrated."""
    return _NO_TABLE.search(reply.traceback) is not None


def lacks_static_files(reply: Reply) -> bool:
    """Tell whether Django failed because its static files were never collected."""
    return _NO_STATIC in reply.traceback


def _server_error(reply: Reply, examination: Examination) -> str:
    what = failure_words(reply.traceback, examination.root) or "it logged no traceback"
    if lacks_static_files(reply):
        return f'{what}; collect the files: [app] prepare = ["python manage.py collectstatic --no-input"]'
    if lacks_tables(reply):
        return f'{what}; has the database been migrated? [app] prepare = ["{_migration(reply, examination)}"]'
    return what + service_hint(reply.traceback)


def _migration(reply: Reply, examination: Examination) -> str:
    """Return the command that makes an app's tables, as its framework's users know it."""
    if examination.django is not None:
        return "python manage.py migrate"
    return "flask db upgrade" if "/flask/" in reply.traceback else "alembic upgrade head"
