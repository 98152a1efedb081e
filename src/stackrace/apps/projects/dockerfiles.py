"""What an image starts: ENTRYPOINT and CMD of its Dockerfile, and the scripts of the project that these name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ...model.present import real_path
from .deployment_command import (
    OPEN,
    DeploymentCommand,
    assignments,
    for_shell,
    is_open,
    located,
    split_words,
    text_of,
)
from .variables import interpolated

__all__ = ["Image", "dockerfile_commands", "image_at"]

_UNSET = re.compile(r"\$\{\w+\?\}")
_CONTINUED = re.compile(r"\\[ \t]*\n(?:[ \t]*#[^\n]*\n)*")


@dataclass(slots=True)
class Image:
    """What a stage of a Dockerfile makes."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    """What it copies, by the place in the image."""
    folder: str = ""
    """WORKDIR."""
    path: Path | None = None
    """The Dockerfile; None where the project has none of it."""
    is_assumed: bool = False
    """Whether nobody says that a container has this image."""

    def place(self, path: str) -> str:
        """Return where a path lies that may begin at WORKDIR."""
        whole = str(PurePosixPath(self.folder or "/", path))
        return f"{whole}/" if path.endswith("/") and whole != "/" else whole

    def copy(self, sources: Sequence[str], target: str) -> None:
        """Note what COPY brings, and where."""
        folder = target.endswith("/") or target == "." or len(sources) > 1
        for source in sources:
            is_one_of_many = len(sources) > 1 or PurePosixPath(source).suffix
            name = PurePosixPath(source).name if folder and is_one_of_many else ""
            self.copies[self.place(f"{target.rstrip('/')}/{name}" if name else target)] = source

    @property
    def words(self) -> tuple[str, ...]:
        """What it starts."""
        return self.started()

    def started(self, entrypoint: tuple[str, ...] | None = None, command: tuple[str, ...] | None = None) -> tuple[
        str, ...
    ]:  # fmt: skip
        """Return what it starts with another entry point, command or both; None: its own."""
        if entrypoint is not None:
            # with an entry point of their own, people have lost the image's command
            return (*entrypoint, *(command or ()))
        # a line for a shell gets them as $0 and $@
        return (*self.entrypoint, *(self.command if command is None else command))


def image_at(path: Path, target: str = "", given: object = None) -> Image:
    """Return what the Dockerfile at ``path`` makes, up to its stage ``target``; an empty image without a file.

    A table of what is ``given`` stands in for the values of its arguments.
    """
    text = text_of(path)
    image = _made(text, target, given if isinstance(given, dict) else {})
    image.path = real_path(path) if text else None
    return image


def _made(text: str, target: str, given: Mapping[str, object]) -> Image:
    stages: dict[str, Image] = {}
    arguments: dict[str, str] = {}
    image, has_command = Image(), False
    for line in _CONTINUED.sub(" ", text).splitlines():
        instruction, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        match instruction.upper():
            case "FROM":
                image, has_command = _started_from(rest, stages, arguments), False
            case "ENTRYPOINT":
                image.entrypoint = _exec_form(rest)
                image.command = image.command if has_command else ()
            case "CMD":
                image.command, has_command = _exec_form(rest), True
            case "ARG":
                name, _, value = rest.partition("=")
                chosen = (
                    value.strip("\"'") or arguments.get(name, "") if given.get(name) is None else str(given[name])
                )
                arguments[name] = OPEN if is_open(chosen) else chosen
            case "ENV":
                known = {**arguments, **image.environment}
                said = {name: interpolated(value, known) for name, value in assignments(rest).items()}
                # what nothing sets is empty, or the base image's
                image.environment |= {name: value for name, value in said.items() if not _UNSET.search(value)}
            case "WORKDIR":
                image.folder = image.place(interpolated(rest, {**arguments, **image.environment}))
            case "COPY" | "ADD":
                if words := [word for word in _listed(rest) or split_words(rest) if not word.startswith("--")]:
                    image.copy(words[:-1], interpolated(words[-1], {**arguments, **image.environment}))
    return stages.get(target.lower(), image)


def _started_from(rest: str, stages: dict[str, Image], arguments: Mapping[str, str]) -> Image:
    """Return the stage that ``FROM`` begins, kept by its name, as the one that it goes on from."""
    words = [word for word in rest.split() if not word.startswith("--")]
    base = interpolated(words[0], arguments) if words else ""
    parent = stages.get(base.lower(), Image())
    image = Image(
        entrypoint=parent.entrypoint,
        command=parent.command,
        environment=dict(parent.environment),
        copies=dict(parent.copies),
        folder=parent.folder,
    )
    names = [str(len([name for name in stages if name.isdigit()]))]
    names += [words[2].lower()] if len(words) > 2 and words[1].upper() == "AS" else []
    stages.update(dict.fromkeys(names, image))
    return image


def dockerfile_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read what an image starts; a script among its words is read, too."""
    image = image_at(path)
    if image.words:
        command = DeploymentCommand(
            file=path, words=image.words, environment=image.environment, folder=image.folder, copies=image.copies
        )
        yield located(command, text)


def _exec_form(text: str) -> tuple[str, ...]:
    return _listed(text) or for_shell(text)


def _listed(text: str) -> tuple[str, ...]:
    """Return the words of a list in JSON; nothing for other text."""
    with suppress(ValueError):
        words = json.loads(text) if text.startswith("[") else ()
        return tuple(str(word) for word in words) if isinstance(words, list) else ()
    return ()
