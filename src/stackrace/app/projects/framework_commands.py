"""``litestar run`` of Litestar, which starts Uvicorn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from .deployment_command import DeploymentCommand

_LITESTAR = {
    "-H": "--host", "-p": "--port", "-W": "--workers", "--wc": "--workers", "--web-concurrency": "--workers",
    "-F": "--fd", "-U": "--uds", "-r": "--reload", "-R": "--reload-dir",
}  # fmt: skip
"""Options of ``litestar run``, as Uvicorn calls them. Source: Litestar, CLI, Run."""


def as_server(command: DeploymentCommand) -> DeploymentCommand:
    """Return a framework's ``command`` as a command of the server it starts; unchanged for any other command."""
    program, *words = command.words
    if program == "litestar" and "run" in words:
        return replace(command, words=("uvicorn", *_of_litestar(words)))
    return command


def _of_litestar(words: Sequence[str]) -> Iterator[str]:
    place = words.index("run")
    before = [part for word in words[:place] for part in word.split("=", 1)]
    yield from (app for name, app in pairwise(before) if name == "--app")
    for word in words[place + 1 :]:
        name, equals, value = word.partition("=")
        if name not in ("-d", "--debug", "-P", "--pdb"):
            yield f"{_LITESTAR.get(name, name)}{equals}{value}"
