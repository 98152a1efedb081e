"""Which servers of the catalogue a command starts, and with which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....model.own import CommandLine
from ....model.stack import ServerSpec
from ..commands import ELSEWHERE
from ..deployment_command import DeploymentCommand
from ..starts import Start, starts

__all__ = ["Invocation", "Invocations", "invocations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One start of a server."""

    command: DeploymentCommand
    """Where it stands."""
    spec: ServerSpec
    line: CommandLine
    """How its words are read."""
    program: str
    words: tuple[str, ...]
    """Behind the program's name; what only running would tell has a ``$``."""
    variables: Mapping[str, str]
    """Those of its process."""
    folder: str = ""
    """Where it is started; empty for the project's own folder."""
    wrappers: tuple[str, ...] = ()
    """The programs around it that change how it runs."""
    problem: str = ""
    """Why what is started may be something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocations:
    """What a command starts."""

    servers: tuple[Invocation, ...] = ()
    """Those of the catalogue, the last first."""
    others: tuple[Start, ...] = ()
    """What serves an app, too, but cannot be raced."""
    problem: str = ""
    """Why it may be something else, or could not be asked."""


def invocations(command: DeploymentCommand, specs: Mapping[str, ServerSpec], root: Path) -> Invocations:
    """Return what ``command`` starts in the project at ``root``."""
    programs = {name: spec for spec in specs.values() if spec.command for name in spec.command.programs}
    found = starts(command, root, programs.keys() | ELSEWHERE.keys())
    return Invocations(
        servers=tuple(
            Invocation(
                command=start.command,
                spec=spec,
                line=spec.command,
                program=start.words[0],
                words=tuple(_arguments(start.words[1:], spec.command)),
                variables=start.variables,
                folder=start.folder,
                wrappers=start.wrappers,
                problem=found.problem,
            )
            for start in found.starts
            if (spec := programs.get(start.words[0])) is not None and spec.command is not None
        ),
        others=tuple(start for start in found.starts if start.words[0] not in programs),
        problem=found.problem,
    )


def _arguments(words: Sequence[str], line: CommandLine) -> Iterator[str]:
    """Yield the words; a verb, as ``fastapi dev`` has, is an option or nothing."""
    for place, word in enumerate(words):
        if place == 0 and word in line.verbs:
            yield from filter(None, [line.verbs[word]])
        elif word:
            yield word
