"""``stackrace stacks``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from .own_servers import servers_option

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace stacks                    every server, its state and its settings' names
  stackrace stacks gunicorn           one server with all its settings explained
  stackrace stacks --json | jq '.[] | select(.ready | not) | .install'"""
)
@click.argument("names", nargs=-1, metavar="[SERVER]...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, one object per server.")
@servers_option
def command(names: tuple[str, ...], as_json: bool, servers: Path | None) -> None:
    """List the servers that stacks are made of: what is ready here, what is missing, what installs it."""
    from ..deploy.installation import availability
    from ..servers import catalogue
    from .names import entries_called
    from .stacks_table import document, show

    known = catalogue().extended(servers)
    entries = entries_called(names, known) if names else list(known)
    states = [(entry, availability(entry)) for entry in entries]
    if as_json:
        click.echo(json.dumps([document(entry, state) for entry, state in states], indent=2))
    else:
        show(states, explain=bool(names))
