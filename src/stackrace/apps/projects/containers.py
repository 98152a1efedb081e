"""What containers start: services of compose files, and what they have in common with Kubernetes' containers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...model.own import NotTaken, Weight
from ...model.present import real_path
from .compose import AT, LACKS, Model, models_of
from .deployment_command import DeploymentCommand, located, text_of
from .dockerfiles import Image, image_of
from .likelihood import likelihood
from .places import deployment_folders

__all__ = ["LIMITED", "MOST_INSTANCES", "Built", "assumed_image", "compose_commands", "container_commands"]

MOST_INSTANCES = 64
_LIMITS = ("cpus", "cpu_quota", "cpuset", "mem_limit", "mem_reservation", "cpu_count")
LIMITED = "a race gives all stacks the same: --cores and --memory would hold them to this"
_WEB = re.compile(r"(?<![a-z])(app|api|web|www|site|server|backend|django|flask|wsgi|asgi)(?![a-z])", re.IGNORECASE)
"""Names of services that answer requests."""
_DOCKERFILE = re.compile(r"(Docker|Container)file(\..+)?|.+\.dockerfile", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The image of a container, as far as a Dockerfile of the project makes it."""

    image: Image
    path: Path | None = None
    """The Dockerfile."""
    is_assumed: bool = False
    """Whether nobody says that it is this one's."""


def compose_commands(files: Sequence[Path], root: Path) -> Iterator[DeploymentCommand]:
    """Read what the services of compose files start, those files that compose reads together as one."""
    for model in models_of(files, root):
        for name, service in model.services.items():
            yield from _of_service(model, name, service)


def _of_service(model: Model, name: str, service: Mapping[str, Any]) -> Iterator[DeploymentCommand]:
    at = service[AT]
    built = _built(model, name, service)
    profiles = [str(each) for each in service.get("profiles") or ()]
    command = DeploymentCommand(
        file=model.document,
        words=(),
        environment=service["environment"],
        env_files=tuple(Path(str(entry["path"])) for entry in service.get("env_file") or ()),
        folder=str(service.get("working_dir") or built.image.folder),
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
        built,
        service.get("entrypoint"),
        service.get("command"),
        str(service.get("image") or ""),
        at.get("image"),
    )


def container_commands(
    command: DeploymentCommand,
    built: Built,
    entrypoint: Sequence[str] | None,
    words: Sequence[str] | None,
    image: str = "",
    image_at: tuple[Path, int] | None = None,
) -> Iterator[DeploymentCommand]:
    """Yield what a container starts, ``command`` being what is known of it; None for the words of its image."""
    said = [None if each is None else tuple(each) for each in (entrypoint, words)]
    started = built.image.started(*said)
    command = replace(command, defaults=built.image.environment, image=built.path, copies=built.image.copies)
    if built.is_assumed and built.path and image_at:
        why = f"it is taken for the image of {built.path.name}, though nothing in the project says so"
        assumed = NotTaken(
            file=image_at[0], line=image_at[1], what=f"image {image}", why=why, weight=Weight.ASSUMED
        )
        command = replace(command, not_taken=(*command.not_taken, assumed), rank=command.rank + 1)
    if started and said == [None, None] and built.path is not None:
        yield located(replace(command, file=built.path, line=0, words=started), text_of(built.path))
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
        lines = text_of(file).splitlines() if file else []
        line = next(
            (n for n, each in enumerate(lines, 1) if n >= first and key in each and str(value) in each), first
        )
        yield NotTaken(file=file, line=line, what=f"{key}: {value}", why=LIMITED)


def _instances(service: Mapping[str, Any]) -> int:
    """Return how often a service is started: ``deploy.replicas``, or ``scale``."""
    deploy = service.get("deploy")
    number = str(deploy.get("replicas") if isinstance(deploy, dict) else service.get("scale"))
    return int(number) if number.isascii() and number.isdigit() and 0 < int(number) <= MOST_INSTANCES else 1


def _built(model: Model, name: str, service: Mapping[str, Any]) -> Built:
    """Return the image of a service: what it builds, or another service builds under the name of its image."""
    build, image = service.get("build"), str(service.get("image") or "")
    if not isinstance(build, dict):
        same = (each.get("build") for each in model.services.values() if image and each.get("image") == image)
        build = next((each for each in same if isinstance(each, dict)), None)
    if build is None:
        return assumed_image(image, name, model.root, model.document.parent)
    context = Path(str(build.get("context") or model.document.parent))
    dockerfile = Path(os.path.normpath(context / str(build.get("dockerfile") or "Dockerfile")))
    text = text_of(dockerfile) if model.has(dockerfile) else ""
    if not text:
        return Built(image=Image())
    arguments = build.get("args")
    given = arguments if isinstance(arguments, dict) else {}
    return Built(image=image_of(text, str(build.get("target") or ""), given), path=real_path(dockerfile))


def assumed_image(image: str, service: str, root: Path, beside: Path) -> Built:
    """Return what a Dockerfile of the project makes, where the container ``service`` may have its ``image`` of it.

    A container that nothing calls an app's has none of them.
    """
    last = re.split(r"[:@]", image.rpartition("/")[2])[0].lower()
    is_ours = last in {root.name.lower(), beside.name.lower()}
    if not image or not (is_ours or _WEB.search(service) or _WEB.search(last)):
        return Built(image=Image())
    found = [
        folder / name
        for folder, _, names in deployment_folders(root)
        for name in names
        if _DOCKERFILE.fullmatch(name)
    ]

    def key(path: Path) -> tuple[bool, tuple[int, int], bool, int]:
        words = re.split(r"[^a-z0-9]+", str(path.relative_to(root)).lower())
        return last not in words, likelihood(path, root), path.parent != beside, len(path.parts)

    made = [path for path in sorted(found, key=key) if image_of(text_of(path)).words]
    return (
        Built(image=image_of(text_of(made[0])), path=real_path(made[0]), is_assumed=True)
        if made
        else Built(image=Image())
    )
