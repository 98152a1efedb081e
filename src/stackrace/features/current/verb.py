"""``stackrace current``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  stackrace current                        what this project runs today, as its files say
  stackrace current deploy/compose.prod.yml
  stackrace current --project ~/shop --json | jq -r .deployment.stack
  stackrace current --running :8000        what listens on port 8000 of this machine
  stackrace current --running shop.service --json > observed.json
  stackrace current --script > observe.py  for a machine without Stackrace: python3 observe.py :8000 > observed.json
  stackrace run --current observed.json    race what was observed"""
)
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--project",
    "folder",
    metavar="FOLDER",
    default=Path(),
    show_default=False,
    type=click.Path(path_type=Path, file_okay=False),
    help="The project's folder. Default: this one.",
)
@click.option(
    "--running",
    "target",
    metavar="TARGET",
    help="Observe a server that runs on this machine instead of reading files: a process by its number, :PORT, a "
    "container or a systemd unit. Nothing of it is changed, and no secret is shown.",
)
@click.option(
    "--script",
    is_flag=True,
    help="Print the program that observes, for a machine with Python 3.8 and no Stackrace.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(file: Path | None, folder: Path, target: str | None, script: bool, as_json: bool) -> None:
    """Show what a project runs today, without a race.

    Its deployment files are read: FILE alone, or the likeliest ones of the project. The app is not loaded. FILE may
    be what the program of --script observed.

    Exit codes: 0 found, 1 nothing was found, 2 wrong input.
    """
    from ...base.errors import InputError
    from ...cli.showing import show_result
    from .current_report import KIND, look

    if sum(map(bool, (file, target, script))) > 1:
        raise InputError("give FILE, --running or --script, only one of them")
    if script:
        from .running import script as text

        click.echo(text(), nl=False)
        return
    if not folder.is_dir():
        raise InputError(f"--project {folder} is not a folder")
    found = look(folder, file, target or "")
    show_result(KIND, found, as_json=as_json)
    if found.deployment is None:
        raise SystemExit(1)
