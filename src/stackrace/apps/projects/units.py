"""Commands in files of sections: supervisor's and circus' programs, systemd's units, uWSGI's own options."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .deployment_command import DeploymentCommand, assignments, command_of, located
from .shell_words import split_words

__all__ = ["ini_commands", "systemd_commands"]


_CONTINUED = re.compile(r"\\[ \t]*\n(?:[ \t]*[#;][^\n]*\n)*")
"""A comment may stand between the lines of a value."""


def ini_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``command =`` of supervisor, and uWSGI's own options."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, inline_comment_prefixes=(" ;",))
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for section in parser.sections():
        options = dict(parser.items(section))
        for key in ("command", "cmd"):
            if options.get(key):
                line = re.sub(r"\\?\n", " ", options[key])
                command = command_of(path, line, assignments((options.get("environment") or "").replace(",", " ")))
                number = options.get("numprocs") or ""
                yield located(replace(
                    command,
                    folder=options.get("directory") or options.get("working_dir") or "",
                    instances=int(number) if number.isascii() and number.isdigit() and 0 < len(number) < 4 else 1,
                    service=section.partition(":")[2],
                ), text)  # fmt: skip
        if section == "uwsgi":
            words = (word for key, value in options.items() for word in (f"--{key}", value or ""))
            yield DeploymentCommand(file=path, words=("uwsgi", *words))


def systemd_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``ExecStart=`` of a unit, with its variables; a line goes on after a backslash."""
    environment: dict[str, str] = {}
    env_files: list[str] = []
    folder, commands = "", []
    number = 1
    for line in _CONTINUED.sub(lambda match: "\\\0" * match[0].count("\n"), text).splitlines():
        key, equals, value = line.replace("\\\0", " ").partition("=")
        match key.strip() if equals else "":
            case "Environment":
                environment |= assignments(value)
            case "EnvironmentFile":
                env_files.append(value.strip().lstrip("-"))
            case "WorkingDirectory":
                folder = value.strip()
            case "ExecStart":
                # what stands before the program says how to run it
                commands.append((number, split_words(value.strip().lstrip("@-:+!"))))
        number += 1 + line.count("\\\0")
    for place, words in commands:
        yield DeploymentCommand(
            file=path, words=words, environment=environment, env_files=tuple(env_files), line=place, folder=folder
        )
