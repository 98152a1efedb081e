"""Read the commands that systemd units start, with their drop-ins and files of variables.

Source: systemd.unit(5), systemd.exec(5), systemd.service(5).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...base.files import by_last_parts
from ...stacks.native_files import Omission, Weight
from .deployment_command import (
    LIMITED,
    NO_FILE,
    DeploymentCommand,
    assignments,
    joined_lines,
    split_words,
    text_of,
    variables_of,
)

_LIMITS = frozenset({"CPUQuota", "AllowedCPUs", "CPUAffinity", "MemoryMax", "MemoryHigh", "MemoryLimit"})
_SPECIFIER = re.compile(r"%(.)")
_OF_SYSTEMD = re.compile(r"\$(?:\$|\{(\w+)\}|(\w+))")


def systemd_commands(files: Sequence[Path], root: Path) -> Iterator[DeploymentCommand]:
    """Yield the commands that systemd units start, each unit with its drop-ins in the order of their names."""
    for path in files:
        template = re.sub(r"@[^@]*\.", "@.", path.name)
        folders = [path.with_name(f"{name}.d") for name in dict.fromkeys((path.name, template, path.suffix[1:]))]
        found = (each for folder in folders for each in folder.glob("*.conf"))
        yield from _of_unit((path, *sorted(found, key=lambda each: each.name)), root)


def _of_unit(files: tuple[Path, ...], root: Path) -> Iterator[DeploymentCommand]:
    """Yield the commands that a unit starts; variables of files override those of ``Environment=``."""
    unit, said = files[0], _directives(files)
    variables: dict[str, str] = {}
    for _, _, value in said["Environment"]:
        variables |= assignments(_specified(value, unit))
    omissions, read = [], []
    for file, line, named in said["EnvironmentFile"]:
        name = Path(_specified(named.lstrip("-"), unit))
        found = by_last_parts(str(name), (unit.parent, root), Path.is_file)
        # packages install such a file as /etc/default/NAME or /etc/sysconfig/NAME
        found = found or unit.parent / f"{name.name}.{name.parent.name}"
        more = variables_of(found, {}) if found.is_relative_to(root) else None
        variables |= more or {}
        if more is not None:
            read.append(found)
        else:
            what = f"EnvironmentFile={named}"
            omissions.append(Omission(file=file, line=line, what=what, why=NO_FILE, weight=Weight.VARIABLES))
    limits = [
        Omission(file=file, line=line, what=f"{key}={value}", why=LIMITED)
        for key, places in said.items()
        for file, line, value in places[-1:]
        if key in _LIMITS
    ]
    folder = _specified(said["WorkingDirectory"][-1][2].lstrip("-"), unit) if said["WorkingDirectory"] else ""
    for file, line, value in said["ExecStart"]:
        # characters before the program say how to run it
        program = value.lstrip("@:+!|-")
        words = _expanded(_specified(program, unit), variables, is_known=not omissions)
        yield DeploymentCommand(
            file=file,
            words=(*words[:1], *words[2:]) if "@" in value.removesuffix(program) else words,
            environment=variables,
            env_files=tuple(read),
            line=line,
            folder=folder,
            umask=said["UMask"][-1][2] if said["UMask"] else "",
            document=unit,
            documents=files,
            omissions=(*omissions, *limits),
        )


def _directives(files: Sequence[Path]) -> dict[str, list[tuple[Path, int, str]]]:
    """Return the service's directives with file, line and value; an empty value discards the earlier ones."""
    said: dict[str, list[tuple[Path, int, str]]] = defaultdict(list)
    for file in files:
        section = ""
        for number, line in joined_lines(text_of(file), "#;"):
            section = line if line.startswith("[") else section
            key, equals, value = (part.strip() for part in line.partition("="))
            if equals and section in ("[Service]", "") and not line.startswith(("#", ";")):
                said[key] = [*said[key], (file, number, value)] if value else []
    return said


def _specified(text: str, unit: Path) -> str:
    """Replace systemd's specifiers in ``text``, as far as the name of the ``unit`` tells their values."""
    name, _, instance = unit.stem.partition("@")
    known = {"%": "%", "p": name, "N": unit.stem, "n": unit.name, "t": "/run", "S": "/var/lib"}
    known |= {"i": instance or "${instance?}", "I": instance or "${instance?}", "h": "~", "u": "${user?}"}
    return _SPECIFIER.sub(lambda match: known.get(match[1], match[0]), text)


def _expanded(line: str, variables: Mapping[str, str], *, is_known: bool) -> tuple[str, ...]:
    """Return the words of a command; a lone variable may give several. ``is_known``: an unset variable is empty."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return variables.get(name, "" if is_known else f"${{{name}?}}") if name else "$"

    words = [(word, _OF_SYSTEMD.sub(value, word)) for word in split_words(line)]
    return tuple(
        part for word, made in words for part in (made.split() if re.fullmatch(r"\$\w+", word) else (made,))
    )
