"""Commands in files of hosting platforms, and of programs that run tasks: Procfile, fly.toml, render.yaml …"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from .images import container_commands, image_at
from .loading import MOST_NODES, loaded

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
    manifest = loaded(path.with_name("app.json"), text_of(path.with_name("app.json")))
    formation = manifest.get("formation") if isinstance(manifest, dict) else None
    for line in text.splitlines():
        name, colon, words = line.partition(":")
        if colon and not name.strip().startswith(("#", *_NO_WEB)):
            fronts = _BUILDPACK.findall(words)
            if fronts and not (path.parent / "bin" / f"start-{fronts[0]}").is_file():
                words = _BUILDPACK.sub("", words)
            size = formation.get(name.strip()) if isinstance(formation, dict) else None
            yield DeploymentCommand(
                file=path,
                words=for_shell(words.strip()),
                fronts=tuple(fronts),
                # Heroku says how many fit into a dyno: Dev Center, "Optimizing Python Application Concurrency"
                environment={_WORKERS: OPEN, **dict(_variables(manifest, {}))}
                if isinstance(manifest, dict)
                else {},
                instances=instances_of(size.get("quantity")) if isinstance(size, dict) else 1,
                documents=(path.with_name("app.json"),) if isinstance(manifest, dict) else (),
            )


def platform_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read the values of keys such as ``startCommand``, wherever they stand, with the variables beside them."""
    document = loaded(path, text)
    groups = _groups(document)
    waiting: list[tuple[str, object, Mapping[str, str]]] = [("", document, {})]
    looked_at = 0
    while waiting and looked_at < MOST_NODES:
        name, node, around = waiting.pop(0)
        looked_at += 1
        if isinstance(node, list):
            waiting += [(name, inner, around) for inner in node]
        if not isinstance(node, dict) or str(node.get("type", "")).startswith(_NO_WEB):
            continue
        environment = {**around, **dict(_variables(node, groups))}
        waiting += [
            (str(key), inner, environment) for key, inner in node.items() if not str(key).startswith(_NO_WEB)
        ]
        number = next((instances_of(node[key]) for key in _INSTANCES if node.get(key)), 1)
        beside = DeploymentCommand(
            file=path,
            words=(),
            environment=environment,
            instances=number,
            document=path,
            service=str(node.get("name", "")),
        )
        lines = [line for key in _COMMANDS if isinstance(line := node.get(key), str)]
        for line in lines:
            yield replace(beside, words=for_shell(line))
        docker = next((str(node[key]) for key in _DOCKERFILES if node.get(key)), "")
        if not lines and (docker or "docker" in (node.get("runtime"), node.get("env"))):
            yield from container_commands(beside, image_at(path.parent / (docker or "Dockerfile")), None, None)


def heroku_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read heroku.yml: its processes in place of what the images start that it builds.

    Source: Heroku Dev Center, "Building Docker Images with heroku.yml".
    """
    document = loaded(path, text)
    if not isinstance(document, dict):
        return
    images, run = _table(_table(document, "build"), "docker"), _table(document, "run")
    beside = DeploymentCommand(file=path, words=(), document=path, documents=(path,))
    beside = replace(beside, environment=dict(_variables({"env": _table(document, "setup").get("config")}, {})))
    for name in dict.fromkeys((*run, *images)):
        process = run.get(name)
        words = process.get("command") if isinstance(process, dict) else process
        of = str(process.get("image")) if isinstance(process, dict) else name
        made = images.get(of) or images.get(name)
        table = made if isinstance(made, dict) else {"dockerfile": made}
        dockerfile = path.parent / str(table.get("dockerfile") or "Dockerfile")
        line = " && ".join(map(str, words)) if isinstance(words, list) else str(words or "")
        if not str(name).startswith(_NO_WEB):
            image = image_at(dockerfile, str(table.get("target") or ""))
            yield from container_commands(
                replace(beside, service=str(name)), image, for_shell(line) if line else None, None
            )


def fly_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read fly.toml: its processes in place of the image's command, ``[env]`` before the image's variables."""
    document = loaded(path, text)
    if not isinstance(document, dict):
        return
    build, tried, processes = (_table(document, key) for key in ("build", "experimental", "processes"))
    dockerfile = path.parent / str(build.get("dockerfile") or "Dockerfile")
    image = image_at(dockerfile, str(build.get("build-target") or ""), build.get("args"))
    variables = dict(_variables(document, {}))
    beside = DeploymentCommand(file=path, words=(), environment=variables, document=path, documents=(path,))
    entrypoint = _words(tried.get("exec")) or _words(tried.get("entrypoint"))
    named = [(name, split_words(str(line))) for name, line in processes.items() if not name.startswith(_NO_WEB)]
    started: list[tuple[str, tuple[str, ...] | None]] = [*named] or [("", _words(tried.get("cmd")))]
    for name, words in started:
        yield from container_commands(replace(beside, service=name), image, entrypoint, words)


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    table = document.get(key)
    return table if isinstance(table, dict) else {}


def _words(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    return split_words(value) if isinstance(value, str) else None


def _groups(document: object) -> dict[str, list[Any]]:
    """Return the groups of variables that services of a render.yaml name."""
    groups = document.get("envVarGroups") if isinstance(document, dict) else None
    named = [each for each in (groups if isinstance(groups, list) else ()) if isinstance(each, dict)]
    return {str(each.get("name")): each["envVars"] for each in named if isinstance(each.get("envVars"), list)}


def _variables(node: Mapping[Any, Any], groups: Mapping[str, list[Any]]) -> Iterator[tuple[str, str]]:
    """Yield the variables of a node: a table, or tables of key and value; what the file leaves open is unknown."""
    for key in _VARIABLES:
        match node.get(key):
            case dict() as table:
                for name, value in table.items():
                    value = value.get("value", OPEN) if isinstance(value, dict) else value
                    yield str(name), literal(value)
            case list() as entries:
                entries = [one for each in entries for one in (groups.get(_group(each)) or [each])]
                for entry in entries:
                    match entry:
                        case {"key": name, "value": value} | {"name": name, "value": value}:
                            yield str(name), literal(value)
                        case {"key": name}:
                            yield str(name), OPEN


def _group(entry: object) -> str:
    return str(entry.get("fromGroup")) if isinstance(entry, dict) else ""


def pyproject_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
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
                yield DeploymentCommand(file=path, words=split_words(line))


def flaskenv_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read FLASK_APP of .flaskenv."""
    app = (variables_of(path, {}) or {}).get("FLASK_APP")
    if app:
        yield DeploymentCommand(file=path, words=("flask", "--app", app, "run"))
