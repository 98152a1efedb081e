"""Read the command that an image starts: ENTRYPOINT and CMD of a Dockerfile's stage, or those of its container."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from ...base.files import real_path
from ...stacks.native_files import Omission, Weight
from ..project_files import deployment_folders, likelihood, stage_of
from .deployment_command import (
    OPEN,
    DeploymentCommand,
    assignments,
    for_shell,
    interpolated,
    joined_lines,
    located,
    split_words,
    text_of,
)

_WEB = re.compile(r"(?<![a-z])(app|api|web|www|site|server|backend|django|flask|wsgi|asgi)(?![a-z])", re.IGNORECASE)
_DOCKERFILE = re.compile(r"(Docker|Container)file([._-].+)?|.+\.dockerfile", re.IGNORECASE)
_STARTS = re.compile(r"[ua]?wsgi|gunicorn|uvicorn|meinheld|passenger|fastapi|flask|django|s2i", re.IGNORECASE)
"""Words in the names of images that start a server by themselves."""
_LAST = re.compile(r"runtime|release|final|serve", re.IGNORECASE)
"""Further names of stages for production."""
_OPEN = re.compile(r"\$\(\?\)|\$\{\w+\?\}")
_UNSET = re.compile(r"\$\{\w+\?\}")
_GLOB = re.compile(r"[*?[]")
_RELOADS = re.compile(r"(?<![\w-])--[\w-]*reload")


@dataclass(slots=True)
class Image:
    """The image that a stage of a Dockerfile builds."""

    stage: str = ""
    """Name of the stage; its number if it has none."""
    line: int = 0
    """Line of its FROM."""
    base: str = ""
    """The image of elsewhere that it is based on."""
    said_at: int = 0
    """Line of its last ENTRYPOINT or CMD; 0 without one."""
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    """Sources that the image copies, by their place in the image."""
    folder: str = ""
    """WORKDIR."""
    path: Path | None = None
    """The Dockerfile; None if the project has none for this image."""
    assumed: tuple[Omission, ...] = ()
    """Assumptions that no file confirms: that a container has this image, or that this stage is the one to run."""

    @property
    def words(self) -> tuple[str, ...]:
        """Words of ENTRYPOINT and CMD; a line for a shell gets the words of CMD as $0 and $@."""
        return (*self.entrypoint, *self.command)

    @property
    def is_development(self) -> bool:
        """True if the stage's name, or an option such as ``--reload``, shows that the image is for development."""
        return stage_of(self.stage) > 1 or bool(_RELOADS.search(" ".join(self.words)))

    def place(self, path: str) -> str:
        """Return the full path in the image; a relative ``path`` starts at WORKDIR."""
        whole = str(PurePosixPath(self.folder or "/", path))
        return f"{whole}/" if path.endswith("/") and whole != "/" else whole

    def copy(self, sources: Sequence[str], target: str, *, is_made: bool) -> None:
        """Record the sources of COPY at their places; files of another stage (``is_made``) hide no project file."""
        is_folder = target.endswith("/") or target == "." or len(sources) > 1
        for source in sources:
            if _GLOB.search(PurePosixPath(source).name):
                # counts as a copy of the folder, unless another COPY has that place
                self.copies.setdefault(self.place(target.rstrip("/") or "/"), str(PurePosixPath(source).parent))
                continue
            is_one_of_many = len(sources) > 1 or PurePosixPath(source).suffix
            name = PurePosixPath(source).name if is_folder and is_one_of_many else ""
            place = self.place(f"{target.rstrip('/')}/{name}" if name else target)
            if not is_made or place not in self.copies:
                self.copies[place] = source

    def assume(self, file: Path, line: int, what: str, why: str) -> Image:
        """Return a copy of this image with one more assumption."""
        why = f"{why}, though nothing in the project says so"
        gap = Omission(file=file, line=line, what=what, why=why, weight=Weight.ASSUMED)
        return replace(self, assumed=(*self.assumed, gap))


def image_at(path: Path, target: str = "", given: object = None) -> Image:
    """Return the image of the stage ``target``, else of the last stage, of a Dockerfile; empty without a file.

    ``given`` is a table of build arguments, which replace the values of ARG.
    """
    stages = _stages(path, given if isinstance(given, dict) else {})
    return next((each for each in stages[1:] if each.stage.lower() == target.lower()), stages[-1])


def _likely_images(path: Path) -> list[Image]:
    """Return the image of the last stage; if that is for development, the others instead, the likeliest first."""
    *others, last = _stages(path, {})
    others = [each for each in reversed(others) if each.words and not each.is_development]
    if not last.is_development or not others:
        return [last]
    why = "it is taken for the one of production, for the last one is for development"
    others.sort(key=lambda image: (stage_of(image.stage), not _LAST.search(image.stage)))
    return [each.assume(path, each.line, f"stage {each.stage}", why) for each in others]


def _stages(path: Path, given: Mapping[str, object]) -> list[Image]:
    """Return an empty image, then the image of each stage with the settings of the stage that it is based on."""
    text = text_of(path)
    stages = [Image(path=real_path(path) if text else None)]
    arguments: dict[str, str] = {}
    has_command = False
    for number, line in joined_lines(text, "#"):
        instruction, _, rest = line.partition(" ")
        rest, image = rest.strip(), stages[-1]
        known = {**arguments, **image.environment}
        match instruction.upper():
            case "FROM":
                base, *name = [word for word in rest.split() if not word.startswith("--")] or [""]
                base = interpolated(base, arguments).lower()
                parent = next(
                    (each for each in stages[1:] if each.stage.lower() == base), Image(path=stages[0].path)
                )
                stages.append(replace(
                    parent,
                    stage=name[1] if len(name) > 1 else str(len(stages) - 1),
                    line=number,
                    base=parent.base or base,
                    environment=dict(parent.environment),
                    copies=dict(parent.copies),
                ))  # fmt: skip
                has_command = False
            case "ENTRYPOINT":
                image.entrypoint, image.said_at = _words(rest), number
                image.command = image.command if has_command else ()
            case "CMD":
                image.command, image.said_at, has_command = _words(rest), number, True
            case "ARG":
                name_, _, value = rest.partition("=")
                chosen = value.strip("\"'") or arguments.get(name_, "")
                chosen = chosen if given.get(name_) is None else str(given[name_])
                arguments[name_] = OPEN if _OPEN.search(chosen) else chosen
            case "ENV":
                said = {name: interpolated(value, known) for name, value in assignments(rest).items()}
                # a variable that nothing sets is empty, or the base image sets it
                image.environment |= {name: value for name, value in said.items() if not _UNSET.search(value)}
            case "WORKDIR":
                image.folder = image.place(interpolated(rest, known))
            case "COPY" | "ADD":
                if words := _copied(rest):
                    image.copy(words[:-1], interpolated(words[-1], known), is_made="--from=" in rest)
    return stages


def _words(text: str) -> tuple[str, ...]:
    """Return the words of CMD or ENTRYPOINT, which is a JSON list, perhaps empty, or a line for a shell."""
    return () if re.fullmatch(r"\[\s*\]", text.strip()) else exec_form(text) or for_shell(text)


def _copied(text: str) -> list[str]:
    """Return the sources of COPY or ADD, then the target."""
    return [word for word in exec_form(text) or split_words(text) if not word.startswith("--")]


def exec_form(text: str) -> tuple[str, ...]:
    """Return the words of an instruction in exec form, which is a JSON list; empty for any other form."""
    with suppress(ValueError):
        words = json.loads(text) if text.startswith("[") else ()
        return tuple(str(word) for word in words) if isinstance(words, list) else ()
    return ()


def dockerfile_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Yield the commands of a Dockerfile's likely stages."""
    for image in _likely_images(path):
        yield from container_commands(DeploymentCommand(file=path, folder=image.folder), image, None, None)


def container_commands(
    command: DeploymentCommand, image: Image, entrypoint: Sequence[str] | None, words: Sequence[str] | None
) -> Iterator[DeploymentCommand]:
    """Yield the command that a container starts, if any; ``command`` holds what is known of the container.

    ``entrypoint`` and ``words`` replace ENTRYPOINT and CMD of the image; None keeps those of the image.
    """
    # a container's own entry point discards the image's command
    own = image.command if entrypoint is None else ()
    started = (*(image.entrypoint if entrypoint is None else entrypoint), *(own if words is None else words))
    command = replace(
        command,
        words=started,
        defaults=image.environment,
        image=image.path,
        copies=image.copies,
        omissions=(*command.omissions, *image.assumed),
        rank=command.rank + bool(image.assumed),
    )
    if entrypoint is words is None and image.path is not None:
        command = replace(command, file=image.path, line=image.said_at)
    else:
        command = located(command, words or entrypoint or started)
    if started:
        yield command


def may_contain(path: Path, folder: Path, root: Path) -> bool:
    """Tell whether an image of the Dockerfile at ``path`` may contain files of ``folder``.

    It may not if the Dockerfile copies other files of the project only, or if its .dockerignore leaves ``folder``
    out. The image is built in the folder of the Dockerfile, or in one above up to ``root``.
    """
    named = list(_sent(path))
    contexts = [each for each in path.parents if each.is_relative_to(root) and folder.is_relative_to(each)]
    return not named or any(_may_send(each, folder.relative_to(each), named, path) for each in contexts)


def _sent(path: Path) -> Iterator[str]:
    """Yield the sources of the files that a Dockerfile copies from the folder in which it is built."""
    for _, line in joined_lines(text_of(path), "#"):
        instruction, _, rest = line.partition(" ")
        if instruction.upper() in ("COPY", "ADD") and "--from=" not in rest:
            yield from (source for source in _copied(rest.strip())[:-1] if "://" not in source)


def _may_send(context: Path, inner: Path, named: Sequence[str], path: Path) -> bool:
    """Tell whether the sources ``named`` in ``context`` may include files of the folder ``inner`` in it."""
    known = map(_known_part, named)
    is_named = any(inner.is_relative_to(source) or Path(source).is_relative_to(inner) for source in known)
    own = path.with_name(f"{path.name}.dockerignore")
    return is_named and not _is_ignored(inner, text_of(own if own.is_file() else context / ".dockerignore"))


def _known_part(source: str) -> str:
    """Return the folders of a source before its first wildcard or variable."""
    known, *rest = re.split(r"[$*?[]", source, maxsplit=1)
    return (known.rpartition("/")[0] if rest else known).strip("/")


def _is_ignored(inner: Path, patterns: str) -> bool:
    """Tell whether the patterns of a .dockerignore leave out the folder ``inner``; the last one that fits decides.

    Source: Docker Docs, "Build context", .dockerignore files.
    """
    is_out = False
    places = [each.as_posix() for each in (inner, *inner.parents[:-1])]
    for line in filter(None, map(str.strip, patterns.splitlines())):
        pattern = str(PurePosixPath("/", line.removeprefix("!").strip()))[1:]
        # ** stands for no folder, too
        forms = (pattern, pattern.replace("**/", ""))
        if any(fnmatchcase(place, form) for place in places for form in forms):
            is_out = not line.startswith("!")
        elif line.startswith("!") and Path(pattern).is_relative_to(inner):
            is_out = False
    return is_out


def starting_bases(root: Path) -> Iterator[tuple[Image, Path]]:
    """Yield the likely images of the project's Dockerfiles without a command, whose base starts a server by its
    name."""
    for folder, _, names in deployment_folders(root):
        for path in (folder / name for name in names if _DOCKERFILE.fullmatch(name)):
            if stage_of(str(path.relative_to(root))) <= 1:
                yield from (
                    (each, path) for each in _likely_images(path) if not each.words and _STARTS.search(each.base)
                )


def assumed_image(
    name: str, service: str, root: Path, at: tuple[Path, int], home: Path, *, has_words: bool
) -> Image:
    """Return the image of the Dockerfile in the project that the container ``service`` is probably built from.

    ``name`` is the name of the image, ``at`` its file and line; the folder ``home`` has the service's file.
    The image is empty if no name suggests an app. If the container ``has_words``, the image needs no command.
    """
    last = re.split(r"[:@]", name.rpartition("/")[2])[0].lower()
    is_ours = last in {root.name.lower(), home.name.lower()}
    if not name or not (is_ours or _WEB.search(service) or _WEB.search(last)):
        return Image()
    found = [
        folder / each
        for folder, _, names in deployment_folders(root)
        for each in names
        if _DOCKERFILE.fullmatch(each)
    ]

    def key(path: Path) -> tuple[bool, tuple[int, bool, int], bool, int]:
        words = re.split(r"[^a-z0-9]+", str(path.relative_to(root)).lower())
        return last not in words, likelihood(path, root), path.parent != home, len(path.parts)

    images = (image for path in sorted(found, key=key) for image in _likely_images(path))
    made = next((each for each in images if each.words or has_words), Image())
    return (
        made.assume(*at, f"image {name}", f"it is taken for the image of {made.path.name}") if made.path else made
    )
