"""Which servers a command starts, and with which words: wrappers, shells and assignments before them left off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from ....model.own import CommandLine
from ....model.stack import ServerSpec
from ..commands import commands_in
from ..deployment import DeploymentCommand
from ..shell_values import expanded, whole_words
from .code_starts import started_by_code

__all__ = ["Invocation", "invocations"]

_OTHERS = frozenset(
    [
        "[",
        "[[",
        "apk",
        "apt",
        "apt-get",
        "case",
        "command",
        "conda",
        "cp",
        "echo",
        "for",
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
_BEFORE = frozenset(["export", "exec", "env", "then", "else", "do", "if", "elif", "while", "until", "!", "{", "("])
"""What may stand before a command."""
_WRAPPERS = frozenset(
    [
        "ddtrace-run",
        "newrelic-admin",
        "opentelemetry-instrument",
        "elasticapm-run",
        "scout-apm-run",
        "instana-run",
        "taskset",
        "numactl",
        "nice",
        "ionice",
        "chrt",
        "jemalloc.sh",
        "memray",
        "py-spy",
        "viztracer",
    ]
)
"""Programs around a server that change how it runs."""
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
    wrappers: tuple[str, ...] = ()
    """The programs around it that change how it runs."""


def invocations(command: DeploymentCommand, specs: Mapping[str, ServerSpec], root: Path) -> Iterator[Invocation]:
    """Yield the servers of the catalogue that ``command`` starts in the project at ``root``, by its code, too."""
    programs = {name: spec for spec in specs.values() if spec.command for name in spec.command.programs}
    variables, folder = dict(command.environment), command.folder
    for words in commands_in(tuple(whole_words(command.words)), programs):
        words = list(words)
        own = dict(variables)
        while words and (words[0] in _BEFORE or _ASSIGNMENT.fullmatch(words[0])):
            word = words.pop(0)
            if word == "export":
                variables |= _assigned(words, variables)
            elif _ASSIGNMENT.fullmatch(word):
                own |= _assigned([word], own)
                if not words:
                    variables |= _assigned([word], variables)
        if words[:1] == ["cd"] and len(words) > 1:
            folder = words[1]
            continue
        place = next((i for i in range(len(words)) if _program(words, i) in programs), None)
        if place is None:
            # what is found in code names its program first
            for started in started_by_code(replace(command, environment=own), words, root):
                yield from invocations(started, specs, root)
        if place is None or not _starts(words[:place]):
            continue
        own |= _assigned(words[:place], own)
        spec = programs[_program(words, place)]
        assert spec.command is not None
        yield Invocation(
            command=command,
            spec=spec,
            line=spec.command,
            words=tuple(_arguments(words[place + 1 :], spec.command)),
            variables=own,
            folder=expanded(folder, {**command.defaults, **own}) or "",
            wrappers=tuple(name for word in words[:place] if (name := PurePath(word).name) in _WRAPPERS),
        )


def _program(words: list[str], place: int) -> str:
    """Return the name of a program, or of the package of a module that Python runs."""
    is_module = place > 0 and words[place - 1] == "-m"
    return words[place].partition(".")[0] if is_module else PurePath(words[place]).name


def _starts(before: list[str]) -> bool:
    """Tell whether what stands before a server's name starts it, rather than install or mention it."""
    return not (before and PurePath(before[0]).name in _OTHERS) and not _NO_START & set(before)


def _assigned(words: list[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return what ``words`` assign; what only running would tell is often set under a condition, and left out."""
    pairs = (match.groups() for word in words if (match := _ASSIGNMENT.fullmatch(word)))
    return {name: known for name, value in pairs if (known := expanded(value, variables)) is not None}


def _arguments(words: list[str], line: CommandLine) -> Iterator[str]:
    """Yield the words up to a redirection; a verb, as ``fastapi dev`` has, is an option or nothing."""
    for place, word in enumerate(words):
        if _REDIRECTION.match(word):
            return
        if place == 0 and word in line.verbs:
            yield from filter(None, [line.verbs[word]])
        elif word:
            yield word
