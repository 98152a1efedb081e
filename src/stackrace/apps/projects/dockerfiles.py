"""What an image starts: ENTRYPOINT and CMD of its Dockerfile, and the scripts of the project that these name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from .deployment_command import DeploymentCommand, assignments, located, text_of
from .places import deployment_folders
from .shell_values import expanded, whole_words
from .shell_words import split_words

__all__ = ["dockerfile_commands", "image_of", "shell_script", "started_scripts"]

_CONTINUED = re.compile(r"\\[ \t]*\n(?:[ \t]*#[^\n]*\n)*")
_MOST_DEEP = 2
"""Scripts that start scripts."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_FOLDERS = ("", "scripts", "bin", "docker", "deploy", "deployment", "entrypoints", "compose")


@dataclass(frozen=True, slots=True)
class Image:
    """What a Dockerfile says of its last stage."""

    words: tuple[str, ...] = ()
    entrypoint: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    copies: Mapping[str, str] = field(default_factory=dict)
    """What it copies, by the place in the image."""
    folder: str = ""
    """WORKDIR."""


def image_of(text: str) -> Image:
    """Return what the Dockerfile ``text`` makes; of several stages the last that says a thing decides."""
    last: dict[str, tuple[str, ...]] = {}
    environment: dict[str, str] = {}
    copies: dict[str, str] = {}
    folder = ""
    for line in _CONTINUED.sub(" ", text).splitlines():
        instruction, _, rest = line.strip().partition(" ")
        match instruction.upper():
            case "ENTRYPOINT" | "CMD" as name:
                last[name] = _exec_form(rest.strip())
                if name == "ENTRYPOINT":
                    last.pop("CMD", None)
            case "ENV":
                environment |= assignments(rest)
            case "WORKDIR":
                folder = rest.strip()
            case "COPY" | "ADD":
                *sources, place = [word for word in _exec_form(rest.strip()) if not word.startswith("--")] or [""]
                copies |= {place if len(sources) == 1 else f"{place.rstrip('/')}/{Path(one).name}": one
                           for one in sources}  # fmt: skip
    entrypoint = last.get("ENTRYPOINT", ())
    return Image((*entrypoint, *last.get("CMD", ())), entrypoint, environment, copies, folder)


def dockerfile_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read what an image starts; a script among its words is read, too."""
    image = image_of(text)
    if image.words:
        command = DeploymentCommand(
            file=path, words=image.words, environment=image.environment, folder=image.folder
        )
        yield located(command, text)
    yield from started_scripts(path, image.words, image, image.environment)


def _exec_form(text: str) -> tuple[str, ...]:
    if text.startswith("["):
        try:
            words = json.loads(text)
            return tuple(str(word) for word in words) if isinstance(words, list) else ()
        except ValueError:
            pass
    return split_words(text)


def started_scripts(
    path: Path,
    words: tuple[str, ...],
    image: Image = Image(),
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[DeploymentCommand]:
    """Read the scripts of the project that the file at ``path`` starts with ``words``, as ``/app/start.sh``."""
    for word in words:
        for line in split_words(word) if " " in word else (word,):
            yield from _started_script(path, line, image, environment)


def _started_script(
    path: Path, word: str, image: Image, environment: Mapping[str, str], depth: int = 0
) -> Iterator[DeploymentCommand]:
    name = PurePosixPath(word).name
    if not name or ("/" not in word and not name.endswith(".sh") and word not in image.copies):
        return
    for script in _places(path, word, name, image):
        text = text_of(script)
        if text.startswith("#!") and "sh" in text.partition("\n")[0]:
            for command in shell_script(script, text, environment):
                yield replace(command, folder=image.folder)
                if depth < _MOST_DEEP and command.words[-1].endswith(".sh"):
                    inner = command.words[-1]
                    yield from _started_script(script, inner, image, command.environment, depth + 1)
            return


def _places(path: Path, word: str, name: str, image: Image) -> Iterator[Path]:
    """Yield where a script of an image may lie in the project: where it is copied from, else by its name."""
    contexts = tuple(dict.fromkeys([path.parent, *path.parents[1:4]]))
    for place, source in image.copies.items():
        whole = place if not place.endswith("/") else place + PurePosixPath(source).name
        if whole == word or PurePosixPath(whole).name == name:
            yield from (context / source.lstrip("/") for context in contexts)
    inside = PurePosixPath(word).parts
    yield from (path.parent / folder / name for folder in _FOLDERS)
    if len(inside) > 2:
        yield from (context / Path(*inside[-2:]) for context in contexts)
    elsewhere = [place / name for place, _, names in deployment_folders(path.parent) if name in names]
    yield from elsewhere if len(elsewhere) == 1 else ()


def shell_script(
    path: Path, text: str, environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[DeploymentCommand]:
    """Read the commands of a script, line by line, with the variables that it has until then."""
    number, variables = 1, dict(environment)
    for line in re.sub(r"\\[ \t]*\n", "\\\\\0", text).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            words = split_words(line.replace("\\\0", " "))
            variables |= dict(_set_in(words, variables))
            yield DeploymentCommand(file=path, words=words, line=number, environment=dict(variables))
        number += 1 + line.count("\\\0")


def _set_in(words: tuple[str, ...], variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what a line of assignments sets; a value that only running would tell is left out."""
    kept = [word for word in whole_words(words) if word not in ("export", ";", "local", "readonly")]
    if kept and all(_ASSIGNMENT.match(word) for word in kept):
        for word in kept:
            name, _, value = word.partition("=")
            known = expanded(value, variables)
            if known is not None:
                yield name, known
