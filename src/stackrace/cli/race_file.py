"""A race file among the words of a command line, for verbs that take one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ..base.errors import InputError
from ..race.request.request import RaceRequest
from .names import complete_stack

__all__ = ["apart", "one_stack_option", "requested"]

one_stack_option = click.option(
    "--stack",
    metavar="PATH",
    shell_complete=complete_stack,
    help="Stack to start; see `stackrace stacks`. Default: the race file's, if it names only one.",
)


def requested(race_file: Path | None, servers: Path | None = None) -> RaceRequest:
    """Return what the race file asks for, without one what is in this folder."""
    from ..race.preparation.race_file import read_request
    from ..race.request.named_races import file_of

    if race_file is None:
        return RaceRequest(folder=Path.cwd())
    return read_request(file_of(race_file), servers)


def apart(words: Sequence[str]) -> tuple[Path | None, tuple[str, ...]]:
    """Return the race file among ``words``, and the others; raises InputError for two race files."""
    files = [word for word in words if _is_race_file(word)]
    if len(files) > 1:
        raise InputError(f"give one race file, not {' and '.join(files)}")
    return (Path(files[0]) if files else None), tuple(word for word in words if word not in files)


def _is_race_file(word: str) -> bool:
    from ..race.request.named_races import may_be_named

    return "://" not in word and (word.endswith(".toml") or may_be_named(word))
