"""The survey of a project as a race file with comments, and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from ...app.app import App, EntryKind
from ...base.errors import InputError
from ...base.http_syntax import by_prefix
from ...base.numbers import duration, things
from ...base.secrets import masked
from ...race.preparation.pages import Page
from ...race.request.request import RaceRequest
from .project_survey import Hidden, ProjectSurvey, hidden, suggestions

_TAIL = """
[load]
# concurrency = [1, 10, 100]     # connections at each level
# silent = 4                     # beside them: connections that send nothing
# idle = 200                     # beside them: connections kept open after one answer

[race]
# budget = "3min"                # time to spend
# question = "winner"            # or "ranking"
# stacks = ["gunicorn:workers=4", "nginx/uwsgi/uwsgi:processes=4"]   # default: the most used that are ready here
"""


def race_file_text(survey: ProjectSurvey, request: RaceRequest, folder: Path) -> str:
    """Return the text of the race file, to be written into ``folder``; ``stackrace run`` reads it as it is.

    Raises InputError if the file would contain a secret.
    """
    lines = [
        f"# What to race of {comment(survey.app.name)}, as `stackrace init` found it. All keys: docs/races.md.",
        *(f"# {comment(note)}" for note in survey.notes),
        "",
        "[app]",
        *_app(survey, request, folder),
        "",
        "[workload]",
        *_workload(survey, request),
    ]
    text = "\n".join(lines) + "\n" + _TAIL + "".join(f"{line}\n" for line in _current(survey, request, folder))
    for shown, line in zip(masked(text).splitlines(), text.splitlines(), strict=False):
        if shown != line:
            raise InputError(
                f"the race file would hold a secret in {shown.partition('#')[0].strip()}; name pages with --url of "
                "stackrace run instead, and have the app read everything else from its environment"
            )
    return text


def _current(survey: ProjectSurvey, request: RaceRequest, folder: Path) -> Iterator[str]:
    found = survey.current
    if found is None:
        return
    file = quoted(_relative(request.folder / found.deployment.path, folder))
    if found.stack is None:
        yield f"# current = {file}   # what you run today; it cannot be raced: {comment(found.deployment.problem)}"
    else:
        yield f"current = {file}   # what you run today: {comment(found.stack.path)}; false leaves it out"


def _app(survey: ProjectSurvey, request: RaceRequest, folder: Path) -> Iterator[str]:
    app = survey.app
    yield f"{app.entry.kind} = {quoted(app.entry.target)}"
    if app.root != folder:
        yield f"root = {quoted(_relative(app.root, folder))}   # where imports start; python and static, too"
    yield from _interpreter(survey, request)
    yield from _variables(request, folder)
    yield from _static(survey)
    yield from _services(survey)
    yield from _prepare(survey)


def _services(survey: ProjectSurvey) -> Iterator[str]:
    wanted = suggestions(survey)
    if wanted:
        reasons = "; ".join(map(comment, wanted.values()))
        names = ", ".join(map(quoted, wanted))
        yield f"# services = [{names}]   # {reasons}. A race starts private ones: docs/services.md"


def _prepare(survey: ProjectSurvey) -> Iterator[str]:
    app, root = survey.app, survey.examination.survey.static_root
    if app.prepare:
        commands = ", ".join(quoted(" ".join(command)) for command in app.prepare)
        yield f"prepare = [{commands}]   # without it pages fail; it runs on copies of the data"
    elif app.entry.kind is EntryKind.DJANGO and (app.root / "manage.py").is_file():
        collect = ', "python manage.py collectstatic --no-input"' if root else ""
        yield f'# prepare = ["python manage.py migrate --no-input"{collect}]   # runs before the race'


def _interpreter(survey: ProjectSurvey, request: RaceRequest) -> Iterator[str]:
    app, facts = survey.app, survey.examination.python
    if app.ruby is not None and request.ruby is not None:
        yield f"ruby = {quoted(str(app.ruby))}"
    if app.python is None or facts is None:
        return
    version = f"   # Python {comment(facts.version)}"
    if _is_private(app):
        yield f'# python = ".venv/bin/python"{version} of a private environment, as long as the project has none'
    else:
        yield f"python = {quoted(_relative(app.python, app.root))}{version}"


def _is_private(app: App) -> bool:
    """Return True if Stackrace built the interpreter's environment: a race finds it again by itself."""
    from ...deploy.environments import cache_folder

    return app.python is not None and app.python.is_relative_to(cache_folder())


def _variables(request: RaceRequest, folder: Path) -> Iterator[str]:
    if request.env_files:
        names = ", ".join(quoted(_relative(path, folder)) for path in request.env_files)
        yield f"env_file = [{names}]"


def _static(survey: ProjectSurvey) -> Iterator[str]:
    static = _static_of(survey)
    folders = ", ".join(
        f"{quoted(url)} = {quoted(_relative(folder, survey.app.root))}" for url, folder in static.items()
    )
    try:
        by_prefix(static)
    except InputError as error:
        yield f"# static = {{ {folders} }}   # {comment(error.message)}"
        return
    if static:
        yield f"static = {{ {folders} }}   # a front end sends these files"
    elif root := survey.examination.survey.static_root:
        yield f"# STATIC_ROOT is {comment(root)}, which does not exist: no front end sends static files"
        yield '# until "python manage.py collectstatic --no-input" has run: add it to prepare'


def _workload(survey: ProjectSurvey, request: RaceRequest) -> Iterator[str]:
    if request.host is not None:
        yield f"host = {quoted(request.host)}"
    raced = survey.raced
    if raced:
        yield "urls = ["
        yield from (f"  {quoted(page.path)},   # {_remark(page)}" for page in raced)
        yield "]"
    else:
        yield '# urls = ["/"]   # no page answered with success, see below'
    groups = hidden(survey, raced)
    if groups:
        yield "# Not raced; `stackrace init --json` lists all:"
        yield from (f"#   {_group(group)}" for group in groups)


def _group(group: Hidden) -> str:
    example = f"{quoted(masked(group.example))}   # {comment(group.reason)}"
    detail = f": {comment(group.detail)}" if group.detail else ""
    pages = f"; {things(len(group.pages), 'page')} in all" if len(group.pages) > 1 else ""
    return f"{example}{detail}{pages}"


def _remark(page: Page) -> str:
    redirected = f", redirected from {comment(page.via)}" if page.via else ""
    return f"{duration(page.seconds)}{redirected}"


def _relative(path: Path, folder: Path) -> str:
    """Return the path as the file has it: relative to ``folder`` if it is near; links stay as they are."""
    relative = os.path.relpath(path, folder)
    return str(path) if relative.startswith("../../../") else relative


def document(survey: ProjectSurvey) -> str:
    """Return the survey as one JSON document."""
    app, facts = survey.app, survey.examination.python
    return json.dumps(
        {
            "format": "stackrace-survey",
            "version": 1,
            "app": {
                "name": app.name,
                app.entry.kind.value: app.entry.target,
                "root": str(app.root),
                "python": None if app.python is None else str(app.python),
                "python_version": None if facts is None else facts.version,
            },
            "static": {prefix: str(folder) for prefix, folder in _static_of(survey).items()},
            "services": list(suggestions(survey)),
            "current": _running(survey),
            "pages": [_page(page) for page in survey.pages],
            "urls": [page.path for page in survey.raced],
            "notes": list(survey.notes),
        },
        indent=2,
    )


def _running(survey: ProjectSurvey) -> dict[str, object] | None:
    found = survey.current
    if found is None:
        return None
    return {
        "stack": found.deployment.stack if found.stack is None else found.stack.path,
        "place": found.deployment.location,
        "problem": found.deployment.problem or None,
    }


def _static_of(survey: ProjectSurvey) -> dict[str, Path]:
    return {**survey.examination.survey.static, **survey.examination.static}


def _page(page: Page) -> dict[str, object]:
    return {
        "path": page.path,
        "status": page.status,
        "seconds": round(page.seconds, 6),
        "redirected_from": page.via or None,
        "problem": page.problem or None,
    }


def quoted(text: str) -> str:
    r"""Return ``text`` as a basic string of TOML; a byte that is no UTF-8 becomes a question mark.

    >>> print(quoted('a "b" \\ \x7f'))
    "a \"b\" \\ \u007f"
    """
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")


def comment(text: str) -> str:
    r"""Return ``text`` on one line, without control characters.

    >>> comment('one\ntwo\x1b[31m')
    'one two [31m'
    """
    clean = masked(text.encode("utf-8", "replace").decode("utf-8"))
    return " ".join("".join(character if character.isprintable() else " " for character in clean).split())
