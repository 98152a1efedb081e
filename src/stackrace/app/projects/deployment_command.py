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

from ...base.secrets import learn
from ...stacks.native_options import Omission
from ..environment import LONGEST, bindings
from ..project_files import text

_MOST_BYTES = 2**18
OPEN = "$(?)"
"""The value of a variable that no file says."""
_COMMENT = re.compile(r"\s*(#|;|//)")
_START = re.compile(r"[\w./:-]*")
_MOST_INSTANCES = 64
_DEEPEST = 20
_FEW_LINES = 4
_VARIABLE = re.compile(
    r"\$(?:(?P<dollar>\$)|(?P<plain>[A-Za-z_]\w*)|\{(?P<name>\w+)(?:(?P<empty>:?)(?P<how>[-?+])"
    r"(?P<other>(?:[^${}]|\$(?![\w${]))*))?\})|(?<!\$)\{(?P<braces>(?:[^${}]|\$(?![\w${]))*)\}"
)
"""A variable with none in its default, or braces that are none of a variable's."""
_HIDDEN = str.maketrans("${}", "\0\1\2")
_SHOWN = str.maketrans("\0\1\2", "${}")
LIMITED = "a race gives all stacks the same: --cores and --memory would hold them to this"
NO_FILE = "there is no such file in the project"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentCommand:
    """A command line, as it stands in a file."""

    file: Path
    words: tuple[str, ...] = ()
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
    umask: str = ""
    """Mask of the files that it makes, as its file says; empty where that does not."""
    instances: int = 1
    """How often it is started."""
    wrappers: tuple[str, ...] = ()
    """The programs around it that change how it runs."""
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
    fronts: tuple[str, ...] = ()
    """What its platform starts in front of it, such as nginx of a buildpack."""
    omissions: tuple[Omission, ...] = ()
    """What stands beside it that a race goes without."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """The services of its document, by all the names under which they are reached there."""
    others: frozenset[str] = frozenset()
    """Services among them that are not built from the project."""

    @property
    def known_by(self) -> Path:
        """The file by which people know what it starts."""
        return self.document or self.file

    @property
    def variables(self) -> dict[str, str]:
        """The variables that its own files say, without those of files of variables."""
        return {**self.defaults, **self.environment}


def text_of(path: Path) -> str:
    """Return the text of a file, empty for one that cannot be read or is too long."""
    return text(path, _MOST_BYTES)


def shown(path: Path, root: Path) -> str:
    """Return a path as reports have it: relative to the project's folder, if it lies there."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def joined_lines(text: str, comments: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that a backslash joins as one, stripped, with the number of the first.

    A line that begins with one of ``comments`` may stand in between, and is left out.
    """
    number, between = 1, rf"\\[ \t]*\n(?:[ \t]*[{comments}][^\n]*\n)*"
    for line in re.sub(between, lambda match: "\0" * match[0].count("\n"), text).splitlines():
        yield number, line.replace("\0", " ").strip()
        number += 1 + line.count("\0")


def line_with(pattern: str, text: str, first: int = 1) -> int:
    """Return the line from ``first`` on, but for comments, in which ``pattern`` is found; 0 where it is in none."""
    lines = text.splitlines()[first - 1 :]
    said = re.compile(pattern)
    return next((n for n, line in enumerate(lines, first) if said.search(line) and not _COMMENT.match(line)), 0)


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


def assignments(text: str) -> dict[str, str]:
    """Read ``A=1 B="2"``, or ``A 1``; supervisor has commas between them."""
    pairs = dict(word.split("=", 1) for word in split_words(text) if "=" in word.lstrip("="))
    name, _, value = text.strip().partition(" ")
    return pairs or ({name: value.strip()} if value else {})


def located(command: DeploymentCommand, words: Sequence[str] = ()) -> DeploymentCommand:
    """Return ``command`` with the line of its file where it begins, as far as its first ``words`` show it."""
    words = words or command.words
    words = words[2].split() if words[:2] == ("sh", "-c") else words
    lines = text_of(command.file).splitlines() if words and not command.line else []
    # quotes and what they hold stand otherwise in the file
    starts = [found[0] for word in words if (found := _START.match(word)) and found[0].strip("-")][:3] or [""]
    for number, line in enumerate(lines, 1):
        near = "\n".join(lines[number - 1 : number - 1 + _FEW_LINES])
        if starts[0] in line and not _COMMENT.match(line) and all(start in near for start in starts[1:]):
            return replace(command, line=number)
    return command


def interpolated(text: str, known: Mapping[str, str]) -> str:
    """Return what compose makes of ``text``; a variable that no file sets is left as ``${NAME?}``.

    >>> interpolated("-w ${N:-${M:-3}} $$PORT ${L}", {"N": ""})
    '-w 3 $PORT ${L?}'
    """

    # what refers to what refers may be long
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

    # the inner ones first
    for _ in range(_DEEPEST):
        if (made := _VARIABLE.sub(value, text)) == text:
            break
        text = made
    return text.translate(_SHOWN)


def variables_of(path: Path, known: Mapping[str, str], *, is_raw: bool = False) -> dict[str, str] | None:
    """Return the variables of a file of variables, ``known`` and earlier ones put in; None if it cannot be read."""
    if not path.is_file():
        return None
    text, variables = text_of(path), {}
    if is_raw:
        pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#"))
        variables = {name.strip(): value for name, _, value in pairs}
    for name, value, line in () if is_raw else bindings(text):
        if name and value is not None:
            is_literal = line["single"] is not None
            variables[name] = value if is_literal else interpolated(value, ChainMap(variables, known))  # type: ignore[arg-type]
    learn(variables)
    return variables
