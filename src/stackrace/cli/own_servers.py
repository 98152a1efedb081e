"""Servers of the user's own: the folder that --servers names, or his race file."""

from __future__ import annotations

import tomllib
from pathlib import Path

import click

__all__ = ["named_in", "servers_option"]

servers_option = click.option(
    "--servers",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder with servers of your own, each as NAME/server.py. Default: what the race file says, or none.",
)


def named_in(race_file: Path) -> Path | None:
    """Return the folder that ``[race] servers`` names; None also for a wrong file, whose reader says what is wrong.

    It is wanted before the file is read: the stacks in it are checked against the catalogue with that folder.
    """
    try:
        table = tomllib.loads(race_file.read_text(encoding="utf-8"))
        return Path(race_file.parent / table["race"]["servers"]).resolve()
    except (OSError, ValueError, KeyError, TypeError):
        return None
