"""Errors for an app's answers that cannot be raced and for its tracebacks, with the reason and the way out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from ..base.errors import AppError
from ..base.files import is_file
from ..base.secrets import is_secret_name, secrets_in
from .app import App
from .environment import env_files
from .examination import Examination, Exchange, excess_of
from .examiner.messages import Reply
from .interpreter import installers, other_pythons
from .project_files import repository_folders, text
from .projects.deployment_files import deployment_commands
from .projects.detection import VARIABLE, settings_candidates

_MOST_ROUTES = 12
_ANOTHER_URL = "race another page with --url or [workload] urls"
_MOST_ABOVE = 2
"""Folders above the project in which a missing module is looked for."""
_NO_STATIC = "Missing staticfiles manifest entry"
_NO_TABLE = re.compile("no such table|UndefinedTable|Table '[^'\n]*' doesn't exist")


def refusal(exchange: Exchange, reply: Reply, examination: Examination) -> AppError:
    """Return the error for a ``reply`` to ``exchange`` that cannot be raced."""
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
    if excess := excess_of(reply):
        return AppError(f"{path}{via} gives an answer that {excess}; {_ANOTHER_URL}")
    return AppError(f"{said}, which is no success; {_ANOTHER_URL}")


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
    if _is_allowed(examination.host, django.allowed_hosts):
        return f"Django accepts the Host {examination.host}, so it is the page: does the URL lack a parameter?"
    return f"the Host {examination.host} is refused; give one of ALLOWED_HOSTS ({hosts}) in [workload] host"


def _is_allowed(host: str, allowed: Sequence[str]) -> bool:
    """Tell whether one of Django's ALLOWED_HOSTS matches ``host``, whose port is ignored.

    Source: docs.djangoproject.com, "Settings", ALLOWED_HOSTS.
    """
    name = host.lower().rpartition(":")[0] if re.search(r":\d+$", host) else host.lower()
    return any(
        each == "*" or name == each or (each.startswith(".") and (name.endswith(each) or name == each[1:]))
        for each in map(str.lower, allowed)
    )


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
        return f"it redirects to https; {_proxy_header_hint('X-Forwarded-Proto')}"
    if django.https_header:
        return f"it redirects to https; {_proxy_header_hint(django.https_header)}"
    return (
        f"it redirects to https (SECURE_SSL_REDIRECT in {examination.entry.target}); "
        'with SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") there, Stackrace sends it'
    )


def _proxy_header_hint(header: str) -> str:
    value = "on" if header == "X-Forwarded-Ssl" else "https"
    return f'say what a TLS proxy would: [workload] headers = {{ "{header}" = "{value}" }}'


def _not_found(examination: Examination) -> str:
    routes = examination.django.routes if examination.django is not None else ()
    if examination.files:
        return f"no such file; there are {_listed(examination.files)}; choose with --url or [workload] urls"
    if not routes and not examination.survey.pages:
        return (
            f"no such page, and {examination.entry.target} lists no others; {_ANOTHER_URL}. If a function of the "
            "project adds its pages, name that function: --wsgi MODULE:FUNCTION()"
        )
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
    return what + _service_hint(reply.traceback)


def _migration(reply: Reply, examination: Examination) -> str:
    if examination.django is not None:
        return "python manage.py migrate"
    return "flask db upgrade" if "/flask/" in reply.traceback else "alembic upgrade head"


_SERVICES = {
    "postgresql": re.compile(
        r"connection to server .{0,300} failed|could not connect to server|could not translate host name"
        r"|failed to resolve host|asyncpg.{0,300}(Connect|gaierror)|, 5432\)",
        re.S,
    ),
    "mariadb": re.compile(
        r"Can't connect to (local )?(MySQL|MariaDB|server)|Unknown (MySQL|MariaDB) server host|, 3306\)"
    ),
    "redis": re.compile(r"redis\.exceptions\.ConnectionError|connecting to \S+:6379|, 6379\)"),
    "memcached": re.compile(r"pymemcache|pylibmc|:11211|, 11211\)"),
}

_REFUSED = re.compile(
    r"ConnectionRefusedError|Connection refused|Name or service not known|getaddrinfo failed|Connect call failed"
    r"|Temporary failure in name resolution|No address associated with hostname|Unknown \w+ server host"
)

_VARIABLE_WORDS = re.compile(
    r"environ|env ?var|declare it as|is missing, and has no default|field required|(?-i:SECRET_KEY)|must be set"
    r"|not set",
    re.IGNORECASE,
)
"""Messages about a missing variable, of Python and libraries (decouple, environ, environs, pydantic, Starlette)."""

_FROM_ENVIRON = re.compile(r'File "(?:[^"\n]*[/\\]os\.py|<frozen os>)", line \d+, in __getitem__')
_READ = re.compile(r"(?:environ\.get|getenv)\(\s*[\"'](\w+)[\"']\s*\)")
"""Reading of a variable without a default, in a line of a traceback: None if it is not set."""
_NAME = re.compile(r"\b[A-Za-z][A-Za-z0-9_]{2,}\b")
_UPPER = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|(?<=KeyError: ')[A-Z][A-Z0-9]+(?=')")
_FIELD = re.compile(r"^(\w+)\n\s+Field required", re.MULTILINE)
"""Lines in which pydantic names the missing variables, in capitals or not."""

_FRAME = re.compile(r'^[ |+]*File "(.+?)", line (\d+)', re.MULTILINE)
_INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders of installed packages, which hold no code of the user."""
_IN_GROUP = re.compile(r"^ *(\| ?|\+-.*$)", re.MULTILINE)
"""Prefix of the lines of an exception within an exception group, and the lines between two of these."""

_MISSING_ARGUMENTS = re.compile(r"TypeError: (?:\w+\.)*(\w+)\(\) missing \d+ required [\w -]*arguments?: (.+)")

_MOST_NAMED = 4


def import_hint(traceback: str, app: App, environ: Mapping[str, str] = os.environ) -> str:
    """Return a hint what to change, to be appended to the exception's message; empty if none is known.

    ``traceback`` comes from an app that could not be imported, or whose settings could not be loaded.
    """
    last = _last_exception(traceback)
    if module := re.search(r"ModuleNotFoundError: No module named '([^']+)'", last):
        return _missing_module(module[1].partition(".")[0], app, environ)
    if package := re.search(r"PackageNotFoundError: No package metadata was found for (\S+)", last):
        own = "if that is the project itself, uv venv && uv pip install -e . makes an environment that has it"
        return f"; {package[1]} is not installed for {app.python}: {own}"
    if missing := _MISSING_ARGUMENTS.search(last):
        return _missing_arguments(missing, app)
    return _missing_variable(traceback, last, app) or _service_hint(traceback)


def _service_hint(traceback: str) -> str:
    """Return the hint that a service does not answer, and the key that starts it; empty for other errors."""
    for name, sign in _SERVICES.items():
        if sign.search(traceback) and _REFUSED.search(traceback):
            return (
                f"; it wants {name}: start yours, or let a race start one, whose address the app reads from the "
                f'variables in docs/services.md: [app] services = ["{name}"]'
            )
    if _REFUSED.search(_last_exception(traceback)):
        return "; a service that it needs does not answer: start it, or let [app] services start one"
    return ""


def failure_words(traceback: str, root: Path) -> str:
    """Return the exception's type, its first line, and the file and line below ``root`` that raised it, if any.

    >>> failure_words("ValueError: no\\nbody is here\\n", Path("/srv/shop"))
    'ValueError: no'
    """
    root = root.absolute()
    first, *more = [line.strip() for line in _last_exception(traceback).splitlines() if line.strip()] or [""]
    if first.endswith(":") and more:
        first = f"{first} {more[0]}"
    places = [
        f"{path.relative_to(root)}, line {frame[2]}"
        for frame in _FRAME.finditer(traceback)
        if (path := Path(frame[1])).is_relative_to(root) and not _INSTALLED & {*path.relative_to(root).parts}
    ]
    return f"{first} ({places[-1]})" if places and first else first


def _last_exception(traceback: str) -> str:
    """Return type and message of the last exception: the lines from the first unindented one behind its frames.

    A message may have several lines, and some may be indented, such as SQL.
    """
    is_group = "Exception Group Traceback" in traceback
    lines = (_IN_GROUP.sub("", traceback) if is_group else traceback).rstrip().splitlines()
    begun = max((number for number, line in enumerate(lines) if line.startswith("Traceback")), default=-1) + 1
    first = next((number for number in range(begun, len(lines)) if lines[number][:1].strip()), len(lines))
    return "\n".join(lines[first:])


def _missing_module(missing: str, app: App, environ: Mapping[str, str]) -> str:
    if missing == app.entry.target.partition(":")[0].partition(".")[0]:
        return f"; its imports start from {app.root} ([app] root)"
    for folder in app.root.parents[:_MOST_ABOVE]:
        if is_file(folder / missing / "__init__.py") or is_file(folder / f"{missing}.py"):
            return f'; it is in {folder}: [app] env = {{ PYTHONPATH = "{folder}" }}, or in a file with --env-file'
    words = f"; it is not installed for {app.python} (--python, [app] python)"
    if app.python is None:
        return words
    for path, command in islice(installers(app.root), 1):
        words += f"; did you run {command.format(python=app.python, path=_shown(path))}? There is {_shown(path)}"
    others = [f"{known.python} ({known.reason})" for known in other_pythons(app.root, app.python, environ)]
    return words + (f"; there are also {', '.join(others[:_MOST_NAMED])}" if others else "")


def _missing_arguments(missing: re.Match[str], app: App) -> str:
    factory, _, given = app.entry.target.partition("(")
    if factory.partition(":")[2] != missing[1]:
        return ""
    wanted = [f'{name}="…"' for name in re.findall(r"'(\w+)'", missing[2])]
    arguments = ", ".join([*filter(None, [given.removesuffix(")")]), *wanted])
    return f"; give it: --{app.entry.kind} '{factory}({arguments})' ([app] {app.entry.kind})"


def _missing_variable(traceback: str, last: str, app: App) -> str:
    unset = [name for name in _READ.findall(traceback) if name not in app.environment] if "None" in last else []
    asked = bool(_FROM_ENVIRON.search(traceback) or _VARIABLE_WORDS.search(last) or unset)
    names = {name.upper() for name in (*_NAME.findall(last), *unset)}
    wanted = {name.upper() for name in _named(last) or unset} or names
    filled_in, templates = env_files(app.root)
    if path := _file_with(wanted, filled_in, app.environment.keys()):
        return f"; there is a {path.name} here: --env-file {_shown(path)} ([app] env_file)"
    if not asked:
        return ""
    name = VARIABLE if VARIABLE in last else next((name.upper() for name in _named(last) or unset), "NAME")
    if name == "DATABASE_URL":
        return '; [app] services = ["postgresql"] starts a database and sets DATABASE_URL, or set it in [app] env'
    if deployed := _deployed_variable(names - app.environment.keys(), app.root):
        return deployed
    if name == VARIABLE and (settings := settings_candidates(app.root)):
        return "; name the settings: " + " or ".join(f"--django {each}" for each in settings[:_MOST_NAMED])
    if path := _file_with(wanted, templates):
        filled = path.with_name(".env")
        if filled in filled_in:
            return f"; {_shown(path)} has it: add it to {_shown(filled)}, and give --env-file {_shown(filled)}"
        return f"; copy {_shown(path)} to {_shown(filled)}, fill it in, and give --env-file {_shown(filled)}"
    for path in filled_in:
        return f'; it is not in {_shown(path)} either: add it there, or give [app] env = {{ {name} = "…" }}'
    return f'; set it as [app] env = {{ {name} = "…" }}, or in a file with --env-file'


def _named(error: str) -> list[str]:
    return [*_UPPER.findall(error), *_FIELD.findall(error)]


def _deployed_variable(names: set[str], root: Path) -> str:
    """Return the hint that a deployment file, or an env file named in it, sets one of ``names``; else empty.

    Without a repository, files above the project are not the project's.
    """
    for folder in repository_folders(root) or (root,):
        for command in deployment_commands(folder):
            for path in command.env_files:
                if names & _names_in(path):
                    return (
                        f"; {_shown(command.file)} names {_shown(path)}: --env-file {_shown(path)} ([app] env_file)"
                    )
            for name in sorted(names & command.variables.keys()):
                # a value that is still to be filled in is of no use
                if "$" not in (value := command.variables[name]):
                    shown = '"…"' if is_secret_name(name) or any(secrets_in(name, value)) else json.dumps(value)
                    return f"; {_shown(command.file)} sets it: [app] env = {{ {name} = {shown} }}"
    return ""


def _file_with(names: set[str], files: Sequence[Path], known: Collection[str] = ()) -> Path | None:
    """Return the first of ``files`` with the most of ``names``, ``known`` ones left out; None if no file has any.

    A name with an app's prefix, such as FLASK_DB_URL for DB_URL, counts less than the name itself.
    """

    def has(path: Path) -> tuple[int, int]:
        variables = _names_in(path) - {*known}
        ends = tuple(f"_{name}" for name in names if "_" in name)
        return len(names & variables), sum(variable.endswith(ends) for variable in variables)

    best = max(files, key=has, default=None)
    return best if best is not None and any(has(best)) else None


def _names_in(path: Path) -> set[str]:
    names = re.findall(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=", text(path), re.MULTILINE)
    return {name.upper() for name in names}


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
