"""Words of a command line: race files, and stacks that the shell completes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.errors import InputError

if TYPE_CHECKING:
    from ..race.request.request import RaceRequest


def complete_stack(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete a stack path: after a slash with what the hop before forwards, else with servers."""
    from ..stacks.servers import catalogue

    head, slash, tail = incomplete.rpartition("/")
    before = head.split("/")
    if not slash or len(before) % 2 == 0:
        return [f"{head}{slash}{name}" for name in catalogue().entries if name.startswith(tail)]
    entry = catalogue().entries.get(before[-1].split("+")[0].split(":")[0])
    protocols = entry.spec.forwards if entry else {}
    return [f"{head}/{protocol}/" for protocol in protocols if protocol.startswith(tail)]


def requested(race_file: Path | None, servers: Path | None = None) -> RaceRequest:
    """Return what the race file asks for, without one what is in this folder."""
    from ..race.request.named_races import file_of
    from ..race.request.race_file import read_request
    from ..race.request.request import RaceRequest

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
