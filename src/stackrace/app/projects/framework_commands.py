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
    named = next((word for word in words if word.partition("#")[0].endswith(".ini")), "")
    near = [project.root / command.folder, project.root, command.file.parent]
    path = project.named(named.partition("#")[0], near) if named else None
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text_of(path) if path is not None else "")
    except configparser.Error:
        return
    section = "server:main"
    said = dict(parser.items(section)) if parser.has_section(section) else {}
    server = re.fullmatch(r"egg:(\w+)(?:#main)?", said.get("use", ""))
    if server is None or server[1] not in _SERVERS:
        return
    given = dict(word.split("=", 1) for word in words if "=" in word and not word.startswith("-"))
    known = {**said, **given, "here": str(path.parent) if path is not None else ""}
    own = {name: value for name, value in said.items() if name not in (*parser.defaults(), "use")}
    values = {
        name: re.sub(r"%\((\w+)\)s", lambda word: known.get(word[1], f"$({word[1]})"), value)
        for name, value in own.items()
    }
    if server[1] == "gunicorn":
        host, port = values.pop("host", ""), values.pop("port", "")
        values |= {"bind": f"{host}:{port}"} if host or port else {}
    yield _SERVERS[server[1]]
    yield from (f"--{_OPTIONS.get(name, name).replace('_', '-')}={value}" for name, value in values.items())
