"""Commands in documents of YAML, JSON and TOML: compose files, and those of hosting platforms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ...model.own import NotTaken
from ...model.present import real_path
from .deployment_command import DeploymentCommand, located, text_of
from .dockerfiles import Image, image_of
from .loading import MOST_NODES, loaded
from .shell_words import split_words

__all__ = ["document_commands"]

_MOST_INSTANCES = 64
_COMMAND_KEYS = ("cmd", "run_command", "start", "startCommand", "web")
_VARIABLE_KEYS = frozenset({"environment", "env", "env_variables", "envVars"})
_NO_WEB = ("worker", "release", "beat", "clock", "cron", "celery")
"""How the names of processes begin that answer no requests."""
_LIMITS = ("cpus", "cpu_quota", "cpuset", "mem_limit", "mem_reservation", "cpu_count")
_LIMITED = "a race gives all stacks the same: --cores and --memory would hold them to this"


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
        if name == "processes" and path.suffix == ".toml":
            yield from _processes(path, text, node)
        yield from _of_service(path, text, name, node)


def _processes(path: Path, text: str, node: Mapping[object, object]) -> Iterator[DeploymentCommand]:
    """Read ``app = "gunicorn …"`` of fly.toml's table of processes."""
    for name, value in node.items():
        if isinstance(value, str) and not str(name).startswith(_NO_WEB):
            words = split_words(value)
            yield located(DeploymentCommand(file=path, words=words, service=str(name)), text)


def _of_service(path: Path, text: str, name: str, node: Mapping[object, object]) -> Iterator[DeploymentCommand]:
    image_path, image = _image(path, node)
    beside = DeploymentCommand(
        file=path,
        words=(),
        environment=dict(_variables(node)),
        defaults=image.environment,
        env_files=tuple(_env_files(node)),
        words_files=(".env",) if "compose" in path.name else (),
        folder=str(node.get("working_dir") or image.folder),
        service=name,
        instances=_instances(node),
        document=path,
        image=image_path,
        copies=image.copies,
        not_taken=tuple(_limits(node, text)),
    )
    entrypoint, command = _container(node)
    started = image.started(entrypoint, command)
    if started and entrypoint is None and command is None and image_path is not None:
        yield located(replace(beside, file=image_path, words=started), text_of(image_path))
    elif started:
        # what the image adds stands in another file
        yield replace(located(replace(beside, words=command or entrypoint or started), text), words=started)
    others = [words for key in _COMMAND_KEYS if (words := _words(node.get(key)))]
    yield from (located(replace(beside, words=words), text) for words in others)


def _container(node: Mapping[object, object]) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the entry point and the command of a container, None for the image's own.

    Kubernetes has other words for the two.
    """
    is_kubernetes = "image" in node and isinstance(node.get("args"), list)
    keys = ("command", "args") if is_kubernetes else ("entrypoint", "command")
    entrypoint, command = (_words(node[key]) if node.get(key) is not None else None for key in keys)
    return entrypoint, command


def _words(value: object) -> tuple[str, ...]:
    """Return the words of a command; a doubled sign is compose's way to leave a variable to the shell."""
    if isinstance(value, str):
        return split_words(value.replace("$$", "$"))
    if isinstance(value, list) and all(isinstance(word, str | int) for word in value):
        return tuple(str(word).replace("$$", "$") for word in value)
    return ()


def _limits(node: Mapping[object, object], text: str) -> Iterator[NotTaken]:
    """Yield what a service is held to: ``cpus``, ``mem_limit``, ``deploy.resources.limits``."""
    said = {key: node[key] for key in _LIMITS if node.get(key)}
    match node.get("deploy"):
        case {"resources": {"limits": dict(limits)}}:
            said |= {key: limits[key] for key in ("cpus", "memory") if limits.get(key)}
    lines = text.splitlines()
    for key, value in said.items():
        line = next((n for n, line in enumerate(lines, 1) if key in line and str(value) in line), 0)
        yield NotTaken(line=line, what=f"{key}: {value}", why=_LIMITED)


def _instances(node: Mapping[object, object]) -> int:
    """Return how often a service is started: ``deploy.replicas``, or ``scale``."""
    deploy = node.get("deploy")
    number = deploy.get("replicas") if isinstance(deploy, dict) else node.get("scale")
    return number if isinstance(number, int) and 0 < number <= _MOST_INSTANCES else 1


def _image(path: Path, node: Mapping[object, object]) -> tuple[Path | None, Image]:
    """Return the Dockerfile that a service of a compose file is built from, if it lies in the project."""
    target = ""
    match node.get("build"):
        case str(context):
            dockerfile = path.parent / context / "Dockerfile"
        case dict() as build:
            target = str(build.get("target") or "")
            dockerfile = (
                path.parent / str(build.get("context") or ".") / str(build.get("dockerfile") or "Dockerfile")
            )
        case _:
            return None, Image()
    text = text_of(dockerfile)
    return (real_path(dockerfile), image_of(text, target)) if text else (None, Image())


def _variables(node: Mapping[object, object]) -> Iterator[tuple[str, str]]:
    """Yield ``environment`` of compose files and its like: a table, lines ``A=1``, or tables of key and value."""
    for key in _VARIABLE_KEYS & node.keys():
        match node[key]:
            case dict() as table:
                yield from ((str(name), _literal(value)) for name, value in table.items() if value is not None)
            case list() as entries:
                for entry in entries:
                    match entry:
                        case str() if "=" in entry:
                            name, _, value = entry.partition("=")
                            yield name, _literal(value)
                        case {"key": name, "value": value} | {"name": name, "value": value}:
                            yield str(name), _literal(value)


def _literal(value: object) -> str:
    """Return a value as text; YAML's truths are words of small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value).replace("$$", "$")


def _env_files(node: Mapping[object, object]) -> Iterator[str]:
    named = node.get("env_file")
    for entry in named if isinstance(named, list) else [named]:
        match entry:
            case str(path) | {"path": str(path)}:
                yield path
