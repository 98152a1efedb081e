"""A command line, as it stands in a deployment file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from ...model.own import NotTaken
from .code import content

__all__ = [
    "OPEN",
    "DeploymentCommand",
    "assignments",
    "command_of",
    "for_shell",
    "instances_of",
    "is_open",
    "line_with",
    "literal",
    "located",
    "shown",
    "split_words",
    "text_of",
]

MOST_BYTES = 2**18
"""Of one file."""
OPEN = "$(?)"
"""The value of a variable that no file says."""
_OPEN = re.compile(r"\$\(\?\)|\$\{\w+\?\}")
_COMMENT = re.compile(r"\s*(#|;|//)")
_START = re.compile(r"[\w./:-]*")
_MOST_INSTANCES = 64
_FEW_LINES = 4
"""A command's first words stand within so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentCommand:
    """A command line, as it stands in a file."""

    file: Path
    words: tuple[str, ...]
    """What is executed, without a shell; a line for a shell is ``("sh", "-c", line)``, see ``for_shell``."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that stand beside it, those of its ``env_files``, too; ``OPEN`` where no file says the value."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Variables of its image: those of the files beside it go before them."""
    env_files: tuple[Path, ...] = ()
    """Files of variables beside it, of which ``environment`` has the variables."""
    line: int = 0
    """Where it stands; 0 where nobody knows."""
    folder: str = ""
    """Where it is started, as its file says; empty where that does not."""
    instances: int = 1
    """How often it is started."""
    service: str = ""
    """What its file calls it."""
    document: Path | None = None
    """The file by which people know its service, where it may be another."""
    documents: tuple[Path, ...] = ()
    """All that speak of its service and are read together, the file that it stands in among them or not."""
    rank: int = 0
    """How many other commands of its kind of file are likelier ones of production."""
    image: Path | None = None
    """The Dockerfile of its service."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """What its image copies, by the place in the image; sources are relative to the folder it is built from."""
    not_taken: tuple[NotTaken, ...] = ()
    """What stands beside it that a race goes without."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """The services of its document, by all the names under which they are reached there."""

    @property
    def variables(self) -> dict[str, str]:
        """The variables that its own files say, without those of files of variables."""
        return {**self.defaults, **self.environment}


def text_of(path: Path) -> str:
    """Return the text of a file, empty for one that cannot be read or is too long."""
    return (content(path, MOST_BYTES) or b"").decode("utf-8", "replace")


def shown(path: Path, root: Path) -> str:
    """Return a path as reports have it: relative to the project's folder, if it lies there."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def line_with(pattern: str, text: str, first: int = 1) -> int:
    """Return the line from ``first`` on, but for comments, in which ``pattern`` is found; 0 where it is in none."""
    lines = text.splitlines()[first - 1 :]
    said = re.compile(pattern)
    return next((n for n, line in enumerate(lines, first) if said.search(line) and not _COMMENT.match(line)), 0)


def is_open(value: str) -> bool:
    """Tell whether a variable has a value that no file says."""
    return bool(_OPEN.search(value))


def split_words(line: str) -> tuple[str, ...]:
    """Return a shell's words, quotes undone; of a line that no shell would take, what stands between blanks."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        # it would take one within a word for a comment, too
        lexer.commenters = ""
        return tuple(takewhile(lambda word: not word.startswith("#"), lexer))
    except ValueError:
        return tuple(line.split())


def instances_of(value: object) -> int:
    """Return how often a file says that something is started; 1 where it says nothing that can be raced."""
    number = str(value)
    return int(number) if number.isascii() and number.isdigit() and 0 < int(number) <= _MOST_INSTANCES else 1


def literal(value: object) -> str:
    """Return a value of YAML or JSON as text; its truths are words of small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def for_shell(line: str) -> tuple[str, ...]:
    """Return the words that have a shell run ``line``, as an image and a Procfile do it."""
    return ("sh", "-c", line)


def command_of(path: Path, line: str, environment: Mapping[str, str] | None = None) -> DeploymentCommand:
    """Return the command ``line`` of the file at ``path``."""
    return DeploymentCommand(file=path, words=split_words(line), environment=environment or {})


def assignments(text: str) -> dict[str, str]:
    """Read ``A=1 B="2"``, or ``A 1``; supervisor has commas between them."""
    pairs = dict(word.split("=", 1) for word in split_words(text) if "=" in word)
    name, _, value = text.strip().partition(" ")
    return pairs or ({name: value.strip()} if value else {})


def located(command: DeploymentCommand, text: str) -> DeploymentCommand:
    """Return ``command`` with the line of ``text`` where it begins, as far as its first words show it."""
    return command if command.line else replace(command, line=_line_of(text.splitlines(), command.words))


def _line_of(lines: Sequence[str], words: Sequence[str]) -> int:
    words = words[2].split() if words[:2] == ("sh", "-c") else words
    # quotes and what they hold stand otherwise in the file
    first, *others = [start for word in words if (start := _START.match(word)[0]).strip("-")][:3] or [""]  # type: ignore[index]
    for number, line in enumerate(lines, 1):
        if first in line and not _COMMENT.match(line):
            near = "\n".join(lines[number - 1 : number - 1 + _FEW_LINES])
            if all(word in near for word in others):
                return number
    return 0
