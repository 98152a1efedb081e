"""Words of a command line: names, looked up and completed by the shell, and race files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from ..base.errors import InputError
from ..base.text import did_you_mean

if TYPE_CHECKING:
    from ..race.request.request import RaceRequest
    from ..stacks.servers import Catalogue
    from ..stacks.servers.contract import Entry


def entries_called(names: Sequence[str], known: Catalogue) -> list[Entry]:
    """Return the entries of ``known``; raises InputError naming the nearest for one that is not in it."""
    from ..stacks.servers.catalogue import GONE

    entries = known.entries
    for name in names:
        if gone := next((gone for gone in GONE if gone.name == name), None):
            raise InputError(gone.sentence)
        if name not in entries:
            raise InputError(f"there is no server {name!r}{did_you_mean(name, entries)}")
    return [entries[name] for name in names]


def complete_installable(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete what ``stackrace install`` takes: names and comparisons, and where none fits a file."""
    from ..race.preparation.installing import installable
    from ..race.request.named_races import known_names
    from ..stacks.servers import catalogue

    names = (*installable(catalogue()), *known_names())
    fitting = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return fitting or [CompletionItem(incomplete, type="file")]


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
