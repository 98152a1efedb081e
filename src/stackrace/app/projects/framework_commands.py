"""Commands of frameworks that start a server of another name: Pyramid's ``pserve``, Litestar's ``litestar run``."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ..project_files import ProjectFiles
from .deployment_command import DeploymentCommand, text_of

_SERVERS = {"waitress": "waitress-serve", "gunicorn": "gunicorn"}
"""Server programs, by the name of the Python package."""
_OPTIONS = {"keepalive": "keep-alive", "accesslog": "access-logfile", "errorlog": "error-logfile"}
"""Settings whose command-line options have other names."""
_LITESTAR = {
    "-H": "--host", "-p": "--port", "-W": "--workers", "--wc": "--workers", "--web-concurrency": "--workers",
    "-F": "--fd", "-U": "--uds", "-r": "--reload", "-R": "--reload-dir",
}  # fmt: skip
"""Options of ``litestar run``, as Uvicorn calls them. Source: Litestar, CLI, Run."""


def as_server(command: DeploymentCommand, project: ProjectFiles) -> DeploymentCommand:
    """Return a framework's ``command`` as a command of the server it starts; unchanged if the server is unknown."""
    program, *words = command.words
    if program == "litestar" and "run" in words:
        return replace(command, words=("uvicorn", *_of_litestar(words)))
    started = tuple(_of_pserve(command, words, project)) if program == "pserve" else ()
    return replace(command, words=started) if started else command


def _of_litestar(words: Sequence[str]) -> Iterator[str]:
    place = words.index("run")
    before = [part for word in words[:place] for part in word.split("=", 1)]
    yield from (app for name, app in pairwise(before) if name == "--app")
    for word in words[place + 1 :]:
        name, equals, value = word.partition("=")
        if name not in ("-d", "--debug", "-P", "--pdb"):
            yield f"{_LITESTAR.get(name, name)}{equals}{value}"


def _of_pserve(command: DeploymentCommand, words: Sequence[str], project: ProjectFiles) -> Iterator[str]:
    """Yield the command of the server in ``[server:main]`` of an ini file. Source: PasteDeploy, Config Format."""
    named = next((name for word in words if (name := word.partition("#")[0]).endswith(".ini")), "")
    path = project.named(named, [project.root / command.folder, project.root, command.file.parent])
    if not named or path is None:
        return
    given = dict(word.split("=", 1) for word in words if "=" in word and not word.startswith("-"))
    parser = configparser.ConfigParser({**given, "here": str(path.parent)}, strict=False)
    try:
        parser.read_string(text_of(path))
        values = {name: value for name, value in parser["server:main"].items() if name not in parser.defaults()}
    except (configparser.Error, KeyError):
        return
    server = re.fullmatch(r"egg:(\w+)(?:#main)?", values.pop("use", ""))
    if server is None or server[1] not in _SERVERS:
        return
    if server[1] == "gunicorn" and values.keys() & {"host", "port"}:
        values["bind"] = f"{values.pop('host', '')}:{values.pop('port', '')}"
    yield _SERVERS[server[1]]
    yield from (f"--{_OPTIONS.get(name, name).replace('_', '-')}={value}" for name, value in values.items())
