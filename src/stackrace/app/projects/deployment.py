"""What a project's own deployment files start: the one place where they are read.

Procfile, Dockerfile and the scripts it starts, compose and platform files, Kubernetes, pyproject.toml's tasks,
configurations of gunicorn, uWSGI and supervisor, systemd's units, .flaskenv.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ..project_files import is_exported
from .code import parse
from .compose import compose_commands
from .deployment_command import DeploymentCommand, located, text_of
from .images import dockerfile_commands
from .kubernetes import is_manifest, kubernetes_commands
from .platforms import (
    flaskenv_commands,
    fly_commands,
    heroku_commands,
    httpd_commands,
    ini_commands,
    platform_commands,
    procfile_commands,
    pyproject_commands,
    systemd_commands,
)

__all__ = ["DeploymentCommand", "commands_of_file", "deployment_commands"]


def deployment_commands(folder: Path, *, wide: bool = False) -> tuple[DeploymentCommand, ...]:
    """Return what the deployment files in ``folder``, and in its folders for deployment, start; each once.

    A ``wide`` search also looks where parts of a larger project have files of their own. A file that cannot be
    read, or is not what its name says, counts as none.
    """
    commands: dict[tuple[Path | None, Path, tuple[str, ...]], DeploymentCommand] = {}
    for patterns, read, further in _READERS:
        files = _files(folder, f"{patterns} {further if wide else ''}")
        for command in read(files, folder) if files or read is kubernetes_commands else ():
            if command.words:
                # the same words are a deployment of their own in each document
                commands.setdefault((command.document, command.file, command.words), command)
    return tuple(map(located, commands.values()))


def _files(folder: Path, patterns: str) -> list[Path]:
    files = (path for pattern in patterns.split() for path in sorted(folder.glob(pattern)))
    return [path for path in dict.fromkeys(files) if not is_exported(path) and path.is_file()]


def commands_of_file(path: Path, root: Path) -> tuple[DeploymentCommand, ...]:
    """Return what the file at ``path`` of the project at ``root`` starts, whatever it is called.

    Its name and its content say what it is.
    """
    text = text_of(path)
    named = ((read, each.rpartition("/")[2]) for patterns, read, _ in _READERS for each in patterns.split())
    read = next((read for read, name in named if path.match(name)), None)
    if is_manifest(path):
        read = kubernetes_commands
    elif read is None and re.search(r"^services:", text, re.MULTILINE):
        read = compose_commands
    elif read is None:
        read = _each(_script) if text.startswith("#!") else _BY_SUFFIX.get(path.suffix, _each(procfile_commands))
    return tuple(located(command) for command in read([path], root) if command.words)


def _gunicorn(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read wsgi_app, chdir and worker_class of gunicorn.conf.py, where they are written out."""
    tree = parse(path)
    settings = {
        target.id: node.value.value
        for node in (tree.body if tree else ())
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


_Reader = Callable[[Sequence[Path], Path], Iterator[DeploymentCommand]]
"""Reads files, also several together, of the project in a folder."""


def _each(read: Callable[[Path, str], Iterator[DeploymentCommand]]) -> _Reader:
    """Return a reader of files that have nothing to do with each other."""
    return lambda files, _: (command for path in files for command in read(path, text_of(path)))


_READERS: tuple[tuple[str, _Reader, str], ...] = (
    ("pyproject.toml", _each(pyproject_commands), ""),
    ("Procfile", _each(procfile_commands), "*/Procfile"),
    ("gunicorn.conf.py */gunicorn.conf.py", _each(_gunicorn), ""),
    (
        "Dockerfile Containerfile *.[Dd]ockerfile Dockerfile[._-]* docker*/**/Dockerfile* "
        "docker*/**/*.[Dd]ockerfile container*/**/*[Dd]ockerfile container*/**/Containerfile "
        "compose/**/Dockerfile deploy*/**/Dockerfile",
        _each(dockerfile_commands),
        "*/Dockerfile */docker*/**/Dockerfile*",
    ),
    (
        "*compose*.y*ml docker*/**/*compose*.y*ml deploy*/**/*compose*.y*ml container*/**/*compose*.y*ml",
        compose_commands,
        "*/*compose*.y*ml */docker*/**/*compose*.y*ml",
    ),
    ("", kubernetes_commands, ""),
    ("app.y*ml render.y*ml railway.toml railway.json .do/*.y*ml", _each(platform_commands), ""),
    ("heroku.yml", _each(heroku_commands), ""),
    ("fly.toml fly.*.toml", _each(fly_commands), ""),
    (
        "uwsgi.ini */uwsgi.ini supervisor*.conf */supervisor*.conf */*/supervisor*.conf supervisor/*.conf "
        "deploy*/*.conf deploy*/supervisor*/*.conf",
        _each(ini_commands),
        "",
    ),
    ("*.service */*.service */systemd/*.service */*/systemd/*.service deploy*/**/*.service", systemd_commands, ""),
    (
        "*.conf */*.conf *apache*/**/*.conf deploy*/**/*.conf sites-*/* */sites-*/* *.vhost */*.vhost",
        _each(httpd_commands),
        "",
    ),
    (".flaskenv", _each(flaskenv_commands), ""),
)
"""By the patterns of the files' names; further ones are those of the parts of a larger project."""

_BY_SUFFIX: Mapping[str, _Reader] = {
    **dict.fromkeys((".yml", ".yaml", ".json", ".toml"), _each(platform_commands)),
    ".ini": _each(ini_commands),
    ".py": _each(_gunicorn),
    ".sh": _each(_script),
}
