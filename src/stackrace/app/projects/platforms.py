"""Commands in files of hosting platforms, and of programs that run tasks: Procfile, fly.toml, render.yaml …"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from ..project_files import listed, loaded, table_in
from .deployment_command import (
    OPEN,
    DeploymentCommand,
    for_shell,
    instances_of,
    literal,
    split_words,
    text_of,
    variables_of,
)
from .images import Image, container_commands, image_at

__all__ = [
    "flaskenv_commands",
    "fly_commands",
    "heroku_commands",
    "platform_commands",
    "procfile_commands",
    "pyproject_commands",
]

_COMMANDS = ("cmd", "run_command", "start", "startCommand", "dockerCommand", "entrypoint", "command", "web")
_VARIABLES = ("environment", "env", "env_variables", "envVars", "envs")
_INSTANCES = ("numInstances", "numReplicas", "instance_count", "instances")
_WORKERS = "WEB_CONCURRENCY"
_DOCKERFILES = ("dockerfilePath", "dockerfile_path")
_NO_WEB = ("worker", "release", "beat", "clock", "cron", "celery")
"""How the names of processes begin that answer no requests."""
_BUILDPACK = re.compile(r"(?<!\S)bin/start-(\w+)(?:-\w+)?(?:\s+-\w+)*(?=\s)")
"""What buildpacks of Heroku's start before the command behind it."""


def procfile_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``web: gunicorn app:app``, with what ``app.json`` beside it says; a worker is left out."""
    described = path.with_name("app.json")
    manifest = loaded(described, text_of(described))
    # Heroku says how many fit into a dyno: Dev Center, "Optimizing Python Application Concurrency"
    environment = {_WORKERS: OPEN, **_variables(manifest)} if isinstance(manifest, dict) else {}
    for line in text.splitlines():
        name, colon, words = line.partition(":")
        if colon and not name.strip().startswith(("#", *_NO_WEB)):
            fronts = _BUILDPACK.findall(words)
            if fronts and not (path.parent / "bin" / f"start-{fronts[0]}").is_file():
                words = _BUILDPACK.sub("", words)
            yield DeploymentCommand(
                file=path,
                words=for_shell(words.strip()),
                fronts=tuple(fronts),
                environment=environment,
                instances=instances_of(table_in(manifest, "formation", name.strip()).get("quantity")),
                documents=(described,) if environment else (),
            )


def platform_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read the values of keys such as ``startCommand``, wherever they stand, with the variables beside them."""
    document = loaded(path, text)
    groups = {str(table_in(each).get("name")): each for each in listed(table_in(document).get("envVarGroups"))}
    waiting: list[tuple[object, Mapping[str, str]]] = [(document, {})]
    for node, around in waiting:
        if isinstance(node, list):
            waiting += [(inner, around) for inner in node]
        if not isinstance(node, dict) or str(node.get("type", "")).startswith(_NO_WEB):
            continue
        environment = {**around, **_variables(node, groups)}
        waiting += [(inner, environment) for key, inner in node.items() if not str(key).startswith(_NO_WEB)]
        number = next((instances_of(node[key]) for key in _INSTANCES if node.get(key)), 1)
        base = DeploymentCommand(
            file=path,
            environment=environment,
            instances=number,
            document=path,
            service=str(node.get("name", "")),
        )
        lines = [line for key in _COMMANDS if isinstance(line := node.get(key), str)]
        for line in lines:
            yield replace(base, words=for_shell(line))
        docker = next((node[key] for key in _DOCKERFILES if node.get(key)), None)
        if not lines and (docker or "docker" in (node.get("runtime"), node.get("env"))):
            yield from container_commands(base, _image(path, docker), None, None)


def heroku_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read heroku.yml: its processes in place of what the images start that it builds.

    Source: Heroku Dev Center, "Building Docker Images with heroku.yml".
    """
    document = loaded(path, text)
    images, run = table_in(document, "build", "docker"), table_in(document, "run")
    variables = _variables({"env": table_in(document, "setup").get("config")})
    base = DeploymentCommand(file=path, environment=variables, document=path, documents=(path,))
    for name in dict.fromkeys((*run, *images)):
        process = run.get(name)
        process = process if isinstance(process, dict) else {"command": process}
        made = images.get(str(process.get("image", name))) or images.get(name)
        made = made if isinstance(made, dict) else {"dockerfile": made}
        line = " && ".join(map(str, listed(process.get("command"))))
        if not str(name).startswith(_NO_WEB):
            image = _image(path, made.get("dockerfile"), made.get("target"))
            words = for_shell(line) if line else None
            yield from container_commands(replace(base, service=str(name)), image, words, None)


def fly_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read fly.toml: its processes in place of the image's command, ``[env]`` before the image's variables."""
    document = loaded(path, text)
    build, tried, processes = (table_in(document, key) for key in ("build", "experimental", "processes"))
    image = _image(path, build.get("dockerfile"), build.get("build-target"), build.get("args"))
    base = DeploymentCommand(file=path, environment=_variables(document), document=path, documents=(path,))
    entrypoint = _words(tried.get("exec")) or _words(tried.get("entrypoint"))
    named = [(name, split_words(str(line))) for name, line in processes.items() if not name.startswith(_NO_WEB)]
    started: list[tuple[str, tuple[str, ...] | None]] = [*named] or [("", _words(tried.get("cmd")))]
    for name, words in started:
        yield from container_commands(replace(base, service=name), image, entrypoint, words)


def _image(path: Path, dockerfile: object, target: object = "", given: object = None) -> Image:
    """Return what is built of a Dockerfile that the file at ``path`` names, or of the usual one beside it."""
    return image_at(path.parent / str(dockerfile or "Dockerfile"), str(target or ""), given)


def _words(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    return split_words(value) if isinstance(value, str) else None


def _variables(node: object, groups: Mapping[str, object] = MappingProxyType({})) -> dict[str, str]:
    """Return the variables of a node: a table, or tables of key and value; what the file leaves open is unknown.

    Services of a render.yaml name ``groups`` of them.
    """
    known: dict[str, str] = {}
    for said in (table_in(node).get(key) for key in _VARIABLES):
        if isinstance(said, dict):
            for name, value in said.items():
                known[str(name)] = literal(value.get("value", OPEN) if isinstance(value, dict) else value)
        for entry in said if isinstance(said, list) else ():
            match entry:
                case {"fromGroup": group}:
                    known |= _variables(groups.get(str(group)))
                case {"key": name, "value": value} | {"name": name, "value": value}:
                    known[str(name)] = literal(value)
                case {"key": name}:
                    known[str(name)] = OPEN
    return known


def pyproject_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read [tool.fastapi] entrypoint, and the tasks of task runners."""
    tool = table_in(loaded(path, text), "tool")
    if isinstance(entrypoint := table_in(tool, "fastapi").get("entrypoint"), str):
        yield DeploymentCommand(file=path, words=("fastapi", "run", "--entrypoint", entrypoint))
    for runner, key in (("pdm", "scripts"), ("poe", "tasks"), ("taskipy", "tasks"), ("rye", "scripts")):
        for task in table_in(tool, runner, key).values():
            line = task.get("cmd") if isinstance(task, dict) else task
            if isinstance(line, str):
                yield DeploymentCommand(file=path, words=split_words(line))


def flaskenv_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read FLASK_APP of .flaskenv."""
    app = (variables_of(path, {}) or {}).get("FLASK_APP")
    if app:
        yield DeploymentCommand(file=path, words=("flask", "--app", app, "run"))
