"""A command line, as it stands in a deployment file, and its variables, as compose reads them.

Source: the Compose Specification, chapter 12 (interpolation), and ``env_file`` of chapter 5.
"""

from __future__ import annotations

import re
import shlex
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from ...base.secrets import register_secrets
from ...stacks.native_files import Omission
from ..environment import LONGEST, bindings
from ..project_files import text

_MOST_BYTES = 2**18
OPEN = "$(?)"
"""Placeholder for the value of a variable if no file says the value."""
_COMMENT = re.compile(r"\s*(#|;|//)")
_START = re.compile(r"[\w./:-]*")
_MOST_INSTANCES = 64
_DEEPEST = 20
_FEW_LINES = 4
_VARIABLE = re.compile(
    r"\$(?:(?P<dollar>\$)|(?P<plain>[A-Za-z_]\w*)|\{(?P<name>\w+)(?:(?P<empty>:?)(?P<how>[-?+])"
    r"(?P<other>(?:[^${}]|\$(?![\w${]))*))?\})|(?<!\$)\{(?P<braces>(?:[^${}]|\$(?![\w${]))*)\}"
)
"""A variable without another variable in its default, or braces that do not belong to a variable."""
_HIDDEN = str.maketrans("${}", "\0\1\2")
_SHOWN = str.maketrans("\0\1\2", "${}")
LIMITED = "a race gives all stacks the same: --cores and --memory would hold them to this"
NO_FILE = "there is no such file in the project"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentCommand:
    """A command line, as it stands in a file."""

    file: Path
    words: tuple[str, ...] = ()
    """Program and arguments; a line for a shell is ``("sh", "-c", line)``, see ``for_shell``."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables set beside the command, including those of ``env_files``; ``OPEN`` if no file says the value."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Variables of the image; ``environment`` overrides them."""
    env_files: tuple[Path, ...] = ()
    """Files of variables beside the command; ``environment`` already includes the variables."""
    line: int = 0
    """Line of the command in ``file``; 0 if unknown."""
    folder: str = ""
    """Working directory that the file sets; empty if the file sets none."""
    umask: str = ""
    """Umask that the file sets; empty if the file sets none."""
    instances: int = 1
    """Number of instances that are started."""
    wrappers: tuple[str, ...] = ()
    """Programs around the command that change how it runs."""
    service: str = ""
    """Name of the service in its file, followed by its compose profiles."""
    document: Path | None = None
    """File by which people know the service, if that may be another than ``file``; else None."""
    documents: tuple[Path, ...] = ()
    """All files that describe the service and are read together; ``file`` may be missing among them."""
    rank: int = 0
    """Rank among the commands of the same kind of file: 0 is the likeliest for production."""
    image: Path | None = None
    """Dockerfile of the service; None without one."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Sources that the image copies, by their place in the image; relative to the folder the image is built in."""
    fronts: tuple[str, ...] = ()
    """Servers that the platform starts in front of the command, such as nginx of a buildpack."""
    omissions: tuple[Omission, ...] = ()
    """Settings beside the command that a race goes without."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Services of the document, by all host names under which they are reached there."""
    others: frozenset[str] = frozenset()
    """Services in ``hosts`` that are not built from the project."""

    @property
    def known_by(self) -> Path:
        """File by which people know the command."""
        return self.document or self.file

    @property
    def variables(self) -> dict[str, str]:
        """All variables of the command: those of the image, overridden by ``environment``."""
        return {**self.defaults, **self.environment}


def text_of(path: Path) -> str:
    """Return the text of a file; empty if it cannot be read or is too long."""
    return text(path, _MOST_BYTES)


def shown(path: Path, root: Path) -> str:
    """Return a path as reports have it: relative to the project's folder, if it lies there."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def joined_lines(text: str, comments: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line, stripped; lines that a backslash joins are one, with the first number.

    Between joined lines, a line that begins with one of the characters ``comments`` is left out.
    """
    number, between = 1, rf"\\[ \t]*\n(?:[ \t]*[{comments}][^\n]*\n)*"
    for line in re.sub(between, lambda match: "\0" * match[0].count("\n"), text).splitlines():
        yield number, line.replace("\0", " ").strip()
        number += 1 + line.count("\0")


def line_with(pattern: str, text: str, first: int = 1) -> int:
    """Return the first line number, from ``first`` on, whose line has ``pattern`` and is no comment; else 0."""
    lines = text.splitlines()[first - 1 :]
    said = re.compile(pattern)
    return next((n for n, line in enumerate(lines, first) if said.search(line) and not _COMMENT.match(line)), 0)


def split_words(line: str) -> tuple[str, ...]:
    """Return the words of a shell line without quotes; a line that no shell accepts is split at blanks."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        # shlex would take a # within a word for a comment, too
        lexer.commenters = ""
        return tuple(takewhile(lambda word: not word.startswith("#"), lexer))
    except ValueError:
        return tuple(line.split())


def instances_of(value: object) -> int:
    """Return ``value`` as a number of instances; 1 unless it is a number from 1 to ``_MOST_INSTANCES``."""
    number = str(value)
    return int(number) if number.isascii() and number.isdigit() and 0 < int(number) <= _MOST_INSTANCES else 1


def literal(value: object) -> str:
    """Return a value of YAML or JSON as text; booleans are ``true`` and ``false``."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def for_shell(line: str) -> tuple[str, ...]:
    """Return the words of a command that runs ``line`` in a shell, as images and Procfiles do."""
    return ("sh", "-c", line)


def assignments(text: str) -> dict[str, str]:
    """Return the variables in ``A=1 B="2"``, or in ``A 1``."""
    pairs = dict(word.split("=", 1) for word in split_words(text) if "=" in word.lstrip("="))
    name, _, value = text.strip().partition(" ")
    return pairs or ({name: value.strip()} if value else {})


def located(command: DeploymentCommand, words: Sequence[str] = ()) -> DeploymentCommand:
    """Return ``command`` with the line of its file that its first ``words`` are found in; unchanged without one."""
    words = words or command.words
    words = words[2].split() if words[:2] == ("sh", "-c") else words
    lines = text_of(command.file).splitlines() if words and not command.line else []
    # quoted parts may be written differently in the file
    starts = [found[0] for word in words if (found := _START.match(word)) and found[0].strip("-")][:3] or [""]
    for number, line in enumerate(lines, 1):
        near = "\n".join(lines[number - 1 : number - 1 + _FEW_LINES])
        if starts[0] in line and not _COMMENT.match(line) and all(start in near for start in starts[1:]):
            return replace(command, line=number)
    return command


def interpolated(text: str, known: Mapping[str, str]) -> str:
    """Replace the variables in ``text`` as compose does; a variable that no file sets is left as ``${NAME?}``.

    >>> interpolated("-w ${N:-${M:-3}} $$PORT ${L}", {"N": ""})
    '-w 3 $PORT ${L?}'
    """

    # nested references may make a very long text
    room = LONGEST

    def value(found: re.Match[str]) -> str:
        nonlocal room
        if found["dollar"] or found["braces"] is not None:
            return (found["dollar"] or found[0]).translate(_HIDDEN)
        name = found["plain"] or found["name"]
        said = known.get(name)
        is_there = said is not None and bool(said or not found["empty"])
        if found["how"] == "+":
            said = found["other"] if is_there else ""
        elif found["how"] == "-" and not is_there:
            said = found["other"]
        said = f"${{{name}?}}" if said is None else said
        room -= len(said)
        return said.translate(_HIDDEN) if room > 0 else ""

    # inner variables first
    for _ in range(_DEEPEST):
        if (made := _VARIABLE.sub(value, text)) == text:
            break
        text = made
    return text.translate(_SHOWN)


def variables_of(path: Path, known: Mapping[str, str]) -> dict[str, str] | None:
    """Return the variables of an env file; values may use ``known`` and earlier variables. None without a file."""
    if not path.is_file():
        return None
    variables: dict[str, str] = {}
    for name, value, line in bindings(text_of(path)):
        if name and value is not None:
            is_literal = line["single"] is not None
            variables[name] = value if is_literal else interpolated(value, ChainMap(variables, known))  # type: ignore[arg-type]
    register_secrets(variables)
    return variables
