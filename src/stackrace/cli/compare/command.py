"""``stackrace compare``."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    epilog="""\b
Examples:
  stackrace load http://127.0.0.1:8000/ -c 20 -d 30s --json > before.json
  stackrace load http://127.0.0.1:8000/ -c 20 -d 30s --json > after.json
  stackrace compare before.json after.json
  stackrace compare before.json after.json --json | jq .throughput.ratio"""
)
@click.argument("before", type=_FILE, metavar="A.json")
@click.argument("after", type=_FILE, metavar="B.json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(before: Path, after: Path, as_json: bool) -> None:
    """Compare two runs of `stackrace load --json`.

    Two runs do not show how much two starts of a server, or two hours of a machine, differ. To compare deployments,
    race them: stackrace run.
    """
    from ...api.load.comparison import compare_runs
    from .show import show

    show(compare_runs(before, after), as_json=as_json)
