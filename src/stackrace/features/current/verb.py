"""``stackrace current``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  stackrace current                        what this project runs today, as its files say
  stackrace current deploy/compose.prod.yml
  stackrace current --project ~/shop --json | jq -r .deployment.stack"""
)
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--project",
    "folder",
    metavar="FOLDER",
    default=Path(),
    show_default=False,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The project's folder. Default: this one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(file: Path | None, folder: Path, as_json: bool) -> None:
    """Show what a project runs today, without a race.

    Its deployment files are read: FILE alone, or the likeliest ones of the project. The app is not loaded.

    Exit codes: 0 found, 1 nothing was found, 2 wrong input.
    """
    from ...cli.showing import show_result
    from .show import KIND, look

    found = look(folder, file)
    show_result(KIND, found, as_json=as_json)
    if found.deployment is None:
        raise SystemExit(1)
