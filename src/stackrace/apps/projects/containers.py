"""What containers start: services of compose files, and what they have in common with Kubernetes' containers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...model.own import NotTaken, Weight
from .compose import AT, LACKS, Model, models_of
from .deployment_command import DeploymentCommand, instances_of, line_with, located, text_of
from .dockerfiles import Image, image_at
from .likelihood import likelihood
from .places import deployment_folders

__all__ = ["LIMITED", "assumed_image", "compose_commands", "container_commands"]

_LIMITS = ("cpus", "cpu_quota", "cpuset", "mem_limit", "mem_reservation", "cpu_count")
LIMITED = "a race gives all stacks the same: --cores and --memory would hold them to this"
_WEB = re.compile(r"(?<![a-z])(app|api|web|www|site|server|backend|django|flask|wsgi|asgi)(?![a-z])", re.IGNORECASE)
"""Names of services that answer requests."""
_DOCKERFILE = re.compile(r"(Docker|Container)file([._-].+)?|.+\.dockerfile", re.IGNORECASE)


def compose_commands(files: Sequence[Path], root: Path) -> Iterator[DeploymentCommand]:
    """Read what the services of compose files start, those files that compose reads together as one."""
    for model in models_of(files, root):
        hosts = dict(pair for name, service in model.services.items() for pair in _hosts(name, service))
        for name, service in model.services.items():
            for command in _of_service(model, name, service):
                yield replace(command, hosts=hosts)


def _hosts(name: str, service: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names under which a service is reached, each with the service; and those that it links to."""
    networks, links = service.get("networks"), service.get("links")
    tables = [each for each in (networks.values() if isinstance(networks, dict) else ()) if isinstance(each, dict)]
    aliases = [str(alias) for table in tables for alias in table.get("aliases") or ()]
    yield from ((alias, name) for alias in (name, str(service.get("container_name") or name), *aliases))
    for link in links if isinstance(links, list) else ():
        other, colon, alias = str(link).partition(":")
        yield alias if colon else other, other


def _of_service(model: Model, name: str, service: Mapping[str, Any]) -> Iterator[DeploymentCommand]:
    at = service[AT]
    image = _image(model, name, service)
    profiles = [str(each) for each in service.get("profiles") or ()]
    command = DeploymentCommand(
        file=model.document,
        words=(),
        environment=service["environment"],
        env_files=tuple(Path(str(entry["path"])) for entry in service.get("env_file") or ()),
        folder=str(service.get("working_dir") or image.folder),
        service=" ".join((name, *profiles)),
        instances=_instances(service),
        document=model.document,
        documents=tuple(model.read),
        not_taken=(*model.lacks, *service.get(LACKS, ()), *_limits(service)),
        rank=2 * model.is_second + bool(profiles and not model.profiles & set(profiles)),
    )
    places = [at[key] for key in ("command", "entrypoint") if service.get(key) is not None and key in at]
    command = replace(command, file=places[0][0], line=places[0][1]) if places else command
    yield from container_commands(
        command,
        image,
        service.get("entrypoint"),
        service.get("command"),
        str(service.get("image") or ""),
        at.get("image"),
    )


def container_commands(
    command: DeploymentCommand,
    image: Image,
    entrypoint: Sequence[str] | None,
    words: Sequence[str] | None,
    name: str = "",
    named_at: tuple[Path, int] | None = None,
) -> Iterator[DeploymentCommand]:
    """Yield what a container starts, ``command`` being what is known of it; None for the words of its image."""
    said = [None if each is None else tuple(each) for each in (entrypoint, words)]
    started = image.started(*said)
    command = replace(command, defaults=image.environment, image=image.path, copies=image.copies)
    if image.is_assumed and image.path and named_at:
        why = f"it is taken for the image of {image.path.name}, though nothing in the project says so"
        assumed = NotTaken(file=named_at[0], line=named_at[1], what=f"image {name}", why=why, weight=Weight.ASSUMED)
        command = replace(command, not_taken=(*command.not_taken, assumed), rank=command.rank + 1)
    if started and said == [None, None] and image.path is not None:
        yield located(replace(command, file=image.path, line=0, words=started), text_of(image.path))
    elif started:
        yield replace(
            located(replace(command, words=said[1] or said[0] or started), text_of(command.file)), words=started
        )


def _limits(service: Mapping[str, Any]) -> Iterator[NotTaken]:
    """Yield what a service is held to: ``cpus``, ``mem_limit``, ``deploy.resources.limits``."""
    said = {key: (service[key], service[AT].get(key)) for key in _LIMITS if service.get(key)}
    match service.get("deploy"):
        case {"resources": {"limits": dict(limits)}}:
            at = service[AT].get("deploy")
            said |= {key: (limits[key], at) for key in ("cpus", "memory") if limits.get(key)}
    for key, (value, place) in said.items():
        file, first = place or (None, 0)
        pattern = rf"{re.escape(key)}.*{re.escape(str(value))}"
        line = (line_with(pattern, text_of(file), max(first, 1)) if file else 0) or first
        yield NotTaken(file=file, line=line, what=f"{key}: {value}", why=LIMITED)


def _instances(service: Mapping[str, Any]) -> int:
    """Return how often a service is started: ``deploy.replicas``, or ``scale``."""
    deploy = service.get("deploy")
    return instances_of(deploy.get("replicas") if isinstance(deploy, dict) else service.get("scale"))


def _image(model: Model, name: str, service: Mapping[str, Any]) -> Image:
    """Return the image of a service: what it builds, or another service builds under the name of its image."""
    build, image = service.get("build"), str(service.get("image") or "")
    if not isinstance(build, dict):
        same = (each.get("build") for each in model.services.values() if image and each.get("image") == image)
        build = next((each for each in same if isinstance(each, dict)), None)
    if build is None:
        assumed = assumed_image(image, name, model.root, model.document.parent)
        # where another service says that it is made of the same, this one is of somebody else's
        built = [_dockerfile(model, each["build"]) for each in model.services.values() if each.get("build")]
        return Image() if assumed.path in built else assumed
    dockerfile = _dockerfile(model, build)
    if not model.has(dockerfile):
        return Image()
    return image_at(dockerfile, str(build.get("target") or ""), build.get("args"))


def _dockerfile(model: Model, build: Mapping[str, Any]) -> Path:
    context = Path(str(build.get("context") or model.document.parent))
    return Path(os.path.normpath(context / str(build.get("dockerfile") or "Dockerfile")))


def assumed_image(image: str, service: str, root: Path, beside: Path) -> Image:
    """Return what a Dockerfile of the project makes, where the container ``service`` may have its ``image`` of it.

    A container that nothing calls an app's has none of them.
    """
    last = re.split(r"[:@]", image.rpartition("/")[2])[0].lower()
    is_ours = last in {root.name.lower(), beside.name.lower()}
    if not image or not (is_ours or _WEB.search(service) or _WEB.search(last)):
        return Image()
    found = [
        folder / name
        for folder, _, names in deployment_folders(root)
        for name in names
        if _DOCKERFILE.fullmatch(name)
    ]

    def key(path: Path) -> tuple[bool, tuple[int, int], bool, int]:
        words = re.split(r"[^a-z0-9]+", str(path.relative_to(root)).lower())
        return last not in words, likelihood(path, root), path.parent != beside, len(path.parts)

    images = map(image_at, sorted(found, key=key))
    made = next((each for each in images if each.words), Image())
    made.is_assumed = True
    return made
