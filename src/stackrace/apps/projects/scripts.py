"""What shell scripts of the project start, with the variables that they have set until then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from ...model.last_parts import by_last_parts
from .deployment_command import DeploymentCommand, text_of
from .places import deployment_folders
from .script_variables import ScriptVariables
from .shell_words import split_words

__all__ = ["shell_script", "started_scripts"]

_MOST_DEEP = 2
"""Scripts that start scripts."""
_FOLDERS = ("", "scripts", "bin", "docker", "deploy", "deployment", "entrypoints", "compose")
_NONE: Mapping[str, str] = MappingProxyType({})


def started_scripts(
    path: Path,
    words: tuple[str, ...],
    copies: Mapping[str, str] = _NONE,
    folder: str = "",
    environment: Mapping[str, str] = _NONE,
) -> Iterator[DeploymentCommand]:
    """Read the scripts of the project that the file at ``path`` starts with ``words``, as ``/app/start.sh``.

    ``copies`` says where an image has its files from, ``folder`` where it starts them.
    """
    for place, word in enumerate(words):
        for line in split_words(word) if " " in word else (word,):
            yield from _started_script(path, line, words[place + 1 :], copies, folder, environment)


def _started_script(
    path: Path,
    word: str,
    arguments: tuple[str, ...],
    copies: Mapping[str, str],
    folder: str,
    environment: Mapping[str, str],
    depth: int = 0,
) -> Iterator[DeploymentCommand]:
    name = PurePosixPath(word).name
    if not name or ("/" not in word and not name.endswith(".sh") and word not in copies):
        return
    for script in _places(path, word, name, copies):
        text = text_of(script)
        if text.startswith("#!") and "sh" in text.partition("\n")[0]:
            for command in shell_script(script, text, environment):
                yield replace(command, folder=folder, words=_with_arguments(command.words, arguments))
                if depth < _MOST_DEEP and command.words[-1].endswith(".sh"):
                    yield from _started_script(
                        script, command.words[-1], (), copies, folder, command.environment, depth + 1
                    )
            return


def _with_arguments(words: tuple[str, ...], arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Put further options in the place of ``$@``; a whole command is read where it stands."""
    if not (arguments and arguments[0].startswith("-")):
        return words
    return tuple(one for word in words for one in (arguments if word in ("$@", "$*") else (word,)))


def _places(path: Path, word: str, name: str, copies: Mapping[str, str]) -> Iterator[Path]:
    """Yield where a script of an image may lie in the project: where it is copied from, else by its name."""
    contexts = tuple(dict.fromkeys([path.parent, *path.parents[1:4]]))
    for place, source in copies.items():
        whole = place if not place.endswith("/") else place + PurePosixPath(source).name
        if whole == word or PurePosixPath(whole).name == name:
            yield from (context / source.lstrip("/") for context in contexts)
    yield from (path.parent / folder / name for folder in _FOLDERS)
    if found := by_last_parts(word, contexts, Path.is_file, least=2):
        yield found
    elsewhere = [place / name for place, _, names in deployment_folders(path.parent) if name in names]
    yield from elsewhere if len(elsewhere) == 1 else ()


def shell_script(path: Path, text: str, environment: Mapping[str, str] = _NONE) -> Iterator[DeploymentCommand]:
    """Read the commands of a script, line by line, with the variables that it has until then."""
    number, variables = 1, ScriptVariables(environment)
    for line in re.sub(r"\\[ \t]*\n", "\\\\\0", text).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            words = split_words(line.replace("\\\0", " "))
            variables.read(words)
            if words:
                yield DeploymentCommand(file=path, words=words, line=number, environment=variables.known())
        number += 1 + line.count("\\\0")
