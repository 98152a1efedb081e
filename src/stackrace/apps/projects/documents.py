"""Commands in documents of YAML, JSON and TOML: compose files, and those of hosting platforms."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from .deployment_command import DeploymentCommand, located, text_of
from .dockerfiles import Image, dockerfile_commands, image_of, started_scripts
from .shell_words import split_words

__all__ = ["document_commands", "loaded"]

MOST_NODES = 20_000
"""Of one YAML document: aliases make a short file endless."""

_MOST_INSTANCES = 64
_COMMAND_KEYS = frozenset({"cmd", "command", "entrypoint", "run_command", "start", "startCommand", "web"})
_VARIABLE_KEYS = frozenset({"environment", "env", "env_variables", "envVars"})


def loaded(path: Path, text: str) -> object:
    """Return a document of YAML, JSON or TOML; None for what is none."""
    import yaml

    load = {".json": json.loads, ".toml": tomllib.loads}.get(path.suffix, yaml.safe_load)
    with suppress(ValueError, RecursionError, yaml.YAMLError):
        document: object = load(text)
        return document
    return None


def document_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read the values of keys such as ``command``, wherever they stand, and what services are built of."""
    waiting: list[tuple[str, object]] = [("", loaded(path, text))]
    looked_at = 0
    while waiting and looked_at < MOST_NODES:
        name, node = waiting.pop(0)
        looked_at += 1
        if isinstance(node, list):
            waiting += [(name, inner) for inner in node]
        if not isinstance(node, dict):
            continue
        waiting += [(str(key), inner) for key, inner in node.items()]
        yield from _of_service(path, text, name, node)


def _of_service(path: Path, text: str, name: str, node: Mapping[object, object]) -> Iterator[DeploymentCommand]:
    beside = DeploymentCommand(
        file=path,
        words=(),
        environment=dict(_variables(node)),
        env_files=tuple(_env_files(node)),
        folder=str(node.get("working_dir") or ""),
        service=name,
        instances=_instances(node),
    )
    image_path, image = _image(path, node)
    has_command = False
    for key in sorted(key for key in node if key in _COMMAND_KEYS):
        value = node[key]
        words: tuple[str, ...] = ()
        if isinstance(value, str):
            words = split_words(value)
        elif isinstance(value, list) and all(isinstance(word, str) for word in value):
            words = tuple(value)
        if words:
            has_command = True
            yield located(replace(beside, words=words), text)
            environment = {**image.environment, **beside.environment}
            for command in started_scripts(image_path or path, words, image, environment):
                yield replace(command, service=name, env_files=beside.env_files, instances=beside.instances)
    if image_path is not None and not has_command:
        for command in dockerfile_commands(image_path, text_of(image_path)):
            environment = {**command.environment, **beside.environment}
            yield replace(
                command,
                environment=environment,
                env_files=beside.env_files,
                service=name,
                instances=beside.instances,
            )


def _instances(node: Mapping[object, object]) -> int:
    """Return how often a service is started: ``deploy.replicas``, or ``scale``."""
    deploy = node.get("deploy")
    number = deploy.get("replicas") if isinstance(deploy, dict) else node.get("scale")
    return number if isinstance(number, int) and 0 < number <= _MOST_INSTANCES else 1


def _image(path: Path, node: Mapping[object, object]) -> tuple[Path | None, Image]:
    """Return the Dockerfile that a service of a compose file is built from, if it lies in the project."""
    build = node.get("build")
    match build:
        case str(context):
            dockerfile = path.parent / context / "Dockerfile"
        case dict():
            named = str(build.get("dockerfile") or "Dockerfile")
            dockerfile = path.parent / str(build.get("context") or ".") / named
        case _:
            return None, Image()
    text = text_of(dockerfile)
    return (dockerfile.resolve(), image_of(text)) if text else (None, Image())


def _variables(node: Mapping[object, object]) -> Iterator[tuple[str, str]]:
    """Yield ``environment`` of compose files and its like: a table, lines ``A=1``, or tables of key and value."""
    for key in _VARIABLE_KEYS & node.keys():
        match node[key]:
            case dict() as table:
                yield from ((str(name), str(value)) for name, value in table.items() if value is not None)
            case list() as entries:
                for entry in entries:
                    match entry:
                        case str() if "=" in entry:
                            yield tuple(entry.split("=", 1))  # type: ignore[misc]
                        case {"key": name, "value": value}:
                            yield str(name), str(value)


def _env_files(node: Mapping[object, object]) -> Iterator[str]:
    named = node.get("env_file")
    for entry in named if isinstance(named, list) else [named]:
        match entry:
            case str(path) | {"path": str(path)}:
                yield path
