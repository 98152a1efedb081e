"""Which servers a command starts, and with which words: wrappers, shells and assignments before them left off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from ....model.own import CommandLine
from ....model.stack import ServerSpec
from ..commands import commands_in
from ..deployment import DeploymentCommand
from .shell import expanded, whole_words

__all__ = ["Invocation", "invocations"]

_OTHERS = frozenset(
    [
        "apk",
        "apt",
        "apt-get",
        "command",
        "conda",
        "cp",
        "echo",
        "grep",
        "kill",
        "killall",
        "ls",
        "mkdir",
        "pgrep",
        "pip",
        "pip3",
        "pkill",
        "printf",
        "rm",
        "sed",
        "source",
        "test",
        "touch",
        "type",
        "which",
    ]
)
"""Programs that only speak of a server."""
_NO_START = frozenset({"install", "add", "sync", "uninstall", "freeze"})
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_REDIRECTION = re.compile(r"\d?[<>]|\"?\$[@*]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One start of a server."""

    command: DeploymentCommand
    """Where it stands."""
    spec: ServerSpec
    line: CommandLine
    """How its words are read."""
    words: tuple[str, ...]
    """Behind the program's name."""
    variables: Mapping[str, str]
    """Those that are known where it is started."""
    folder: str = ""
    """Where it is started; empty for the project's own folder."""


def invocations(command: DeploymentCommand, specs: Mapping[str, ServerSpec]) -> Iterator[Invocation]:
    """Yield the servers of the catalogue that ``command`` starts."""
    programs = {name: spec for spec in specs.values() if spec.command for name in spec.command.programs}
    variables, folder = dict(command.environment), command.folder
    for words in commands_in(tuple(whole_words(command.words)), programs):
        words = list(words)
        own = dict(variables)
        while words and (
            words[0] in ("export", "exec", "env", "then", "else", "do") or _ASSIGNMENT.fullmatch(words[0])
        ):
            word = words.pop(0)
            if word == "export":
                variables |= _assigned(words)
            elif match := _ASSIGNMENT.fullmatch(word):
                own[match[1]] = match[2]
                if not words:
                    variables[match[1]] = match[2]
        if words[:1] == ["cd"] and len(words) > 1:
            folder = words[1]
            continue
        place = next((i for i, word in enumerate(words) if PurePath(word).name in programs), None)
        if place is None or not _starts(words[:place]):
            continue
        own |= _assigned(words[:place])
        spec = programs[PurePath(words[place]).name]
        assert spec.command is not None
        yield Invocation(
            command=command,
            spec=spec,
            line=spec.command,
            words=tuple(_arguments(words[place + 1 :])),
            variables=own,
            folder=expanded(folder, own) or "",
        )


def _starts(before: list[str]) -> bool:
    """Tell whether what stands before a server's name starts it, rather than install or mention it."""
    return not (before and PurePath(before[0]).name in _OTHERS) and not _NO_START & set(before)


def _assigned(words: list[str]) -> dict[str, str]:
    return {match[1]: match[2] for word in words if (match := _ASSIGNMENT.fullmatch(word))}


def _arguments(words: list[str]) -> Iterator[str]:
    """Yield the words up to a redirection; ``start-server`` of mod_wsgi-express is a verb of its program."""
    for word in words:
        if _REDIRECTION.match(word):
            return
        if word not in ("start-server", "$@", '"$@"', ""):
            yield word
