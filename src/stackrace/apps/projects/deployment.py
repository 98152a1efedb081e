"""What a project's own deployment files start: the one place where they are read.

Procfile, Dockerfile and the scripts it starts, compose and platform files, pyproject.toml's tasks, configurations
of gunicorn, uWSGI and supervisor, systemd's units, .flaskenv. Nothing is run, and no shell ever expands anything.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ...model.exported import is_exported
from .deployment_command import DeploymentCommand, command_of, for_shell, located, text_of
from .dockerfiles import dockerfile_commands
from .documents import document_commands
from .loading import loaded
from .units import ini_commands, systemd_commands

__all__ = ["DeploymentCommand", "commands_of_file", "deployment_commands"]


def deployment_commands(folder: Path, *, wide: bool = False) -> tuple[DeploymentCommand, ...]:
    """Return what the deployment files in ``folder``, and in its folders for deployment, start; each once.

    A ``wide`` search also looks where parts of a larger project have files of their own. A file that cannot be
    read, or is not what its name says, counts as none.
    """
    commands: dict[tuple[Path, tuple[str, ...]], DeploymentCommand] = {}
    for pattern, read in (_READERS | (_FURTHER if wide else {})).items():
        for path in sorted(folder.glob(pattern)):
            text = "" if is_exported(path) else text_of(path)
            for command in read(path, text) if text else ():
                if command.words:
                    known = commands.get((command.file, command.words))
                    # an image's command is the same in a compose file that says more of it
                    if known is None or (command.service and not known.service):
                        commands[command.file, command.words] = located(command, text_of(command.file))
    return tuple(commands.values())


def commands_of_file(path: Path) -> tuple[DeploymentCommand, ...]:
    """Return what the file at ``path`` starts, whatever it is called: its name and its content say what it is."""
    text = text_of(path)
    read = next((read for pattern, read in _READERS.items() if path.match(pattern.rpartition("/")[2])), None)
    if read is None:
        read = _script if text.startswith("#!") else _BY_SUFFIX.get(path.suffix, _procfile)
    return tuple(located(command, text_of(command.file)) for command in read(path, text) if command.words)


def _procfile(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``web: gunicorn app:app``; what answers no requests, such as a worker, is left out."""
    for line in text.splitlines():
        name, colon, command = line.partition(":")
        if colon and not name.strip().startswith(("#", "worker", "release", "beat", "clock")):
            yield DeploymentCommand(file=path, words=for_shell(command.strip()))


def _pyproject(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read [tool.fastapi] entrypoint, and the tasks of task runners."""
    document = loaded(path, text)
    tool = document.get("tool") if isinstance(document, dict) else None
    if not isinstance(tool, dict):
        return
    fastapi = tool.get("fastapi")
    if isinstance(fastapi, dict) and isinstance(entrypoint := fastapi.get("entrypoint"), str):
        yield DeploymentCommand(file=path, words=("fastapi", "run", "--entrypoint", entrypoint))
    for runner, key in (("pdm", "scripts"), ("poe", "tasks"), ("taskipy", "tasks"), ("rye", "scripts")):
        tasks = tool.get(runner)
        tasks = tasks.get(key) if isinstance(tasks, dict) else None
        for task in tasks.values() if isinstance(tasks, dict) else ():
            line = task.get("cmd") if isinstance(task, dict) else task
            if isinstance(line, str):
                yield command_of(path, line)


def _gunicorn(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read wsgi_app, chdir and worker_class of gunicorn.conf.py, where they are written out."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    settings = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }
    if "wsgi_app" in settings:
        flags = {"chdir": "--chdir", "worker_class": "--worker-class"}
        given = [word for key, flag in flags.items() if key in settings for word in (flag, settings[key])]
        yield DeploymentCommand(file=path, words=("gunicorn", *given, settings["wsgi_app"]))


def _script(path: Path, text: str) -> Iterator[DeploymentCommand]:
    yield DeploymentCommand(file=path, words=(f"./{path.name}",))


def _flaskenv(path: Path, text: str) -> Iterator[DeploymentCommand]:
    variables = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    app = variables.get("FLASK_APP", "").strip().strip("\"'")
    if app:
        yield DeploymentCommand(file=path, words=("flask", "--app", app, "run"))


Reader = Callable[[Path, str], Iterator[DeploymentCommand]]

_READERS: dict[str, Reader] = {
    "pyproject.toml": _pyproject,
    "Procfile": _procfile,
    "gunicorn.conf.py": _gunicorn,
    "*/gunicorn.conf.py": _gunicorn,
    "Dockerfile": dockerfile_commands,
    "Containerfile": dockerfile_commands,
    "*.[Dd]ockerfile": dockerfile_commands,
    "Dockerfile.*": dockerfile_commands,
    "docker*/**/Dockerfile*": dockerfile_commands,
    "docker*/**/*.[Dd]ockerfile": dockerfile_commands,
    "container*/**/*[Dd]ockerfile": dockerfile_commands,
    "container*/**/Containerfile": dockerfile_commands,
    "compose/**/Dockerfile": dockerfile_commands,
    "deploy*/**/Dockerfile": dockerfile_commands,
    "*compose*.y*ml": document_commands,
    "docker*/**/*compose*.y*ml": document_commands,
    "deploy*/**/*compose*.y*ml": document_commands,
    "container*/**/*compose*.y*ml": document_commands,
    "app.y*ml": document_commands,
    "heroku.yml": document_commands,
    "render.y*ml": document_commands,
    "fly.toml": document_commands,
    "railway.toml": document_commands,
    "railway.json": document_commands,
    "uwsgi.ini": ini_commands,
    "*/uwsgi.ini": ini_commands,
    "supervisor*.conf": ini_commands,
    "*/supervisor*.conf": ini_commands,
    "*/*/supervisor*.conf": ini_commands,
    "supervisor/*.conf": ini_commands,
    "deploy*/*.conf": ini_commands,
    "deploy*/supervisor*/*.conf": ini_commands,
    "*.service": systemd_commands,
    "*/*.service": systemd_commands,
    "*/systemd/*.service": systemd_commands,
    ".flaskenv": _flaskenv,
}
"""By the pattern of the files' names."""

_FURTHER: dict[str, Reader] = {
    "*/Dockerfile": dockerfile_commands,
    "*/docker*/**/Dockerfile*": dockerfile_commands,
    "*/*compose*.y*ml": document_commands,
    "*/docker*/**/*compose*.y*ml": document_commands,
    "*/Procfile": _procfile,
}

_BY_SUFFIX: Mapping[str, Reader] = {
    ".yml": document_commands,
    ".yaml": document_commands,
    ".json": document_commands,
    ".toml": document_commands,
    ".ini": ini_commands,
    ".conf": ini_commands,
    ".service": systemd_commands,
    ".py": _gunicorn,
    ".sh": _script,
}
