"""Servers of the user's own: the folder that --servers names."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["servers_option"]

servers_option = click.option(
    "--servers",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder with your own servers (NAME/server.py). Default: the race file's, or none.",
)
