"""``stackrace stacks``."""

from __future__ import annotations

from pathlib import Path

import click

from ..request_flags import servers_option

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace stacks                    every server and its state, and what is gone
  stackrace stacks gunicorn           one server with all its settings explained
  stackrace stacks --json | jq '.[] | select(.state == "missing") | .install'"""
)
@click.argument("names", nargs=-1, metavar="[SERVER]...")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array with an object for each server.")
@servers_option
def command(names: tuple[str, ...], as_json: bool, servers: Path | None) -> None:
    """List the servers: what is ready, what is missing, and which command installs it.

    Servers that no longer exist are at the end, with their replacements.
    """
    from ...deploy.installation import lack_of
    from ...stacks.servers import catalogue
    from ...stacks.servers.catalogue import GONE
    from ..names import entries_called
    from ..showing import print_document
    from .table import document, document_of_gone, show

    known = catalogue().extended(servers)
    entries = entries_called(names, known) if names else list(known)
    states = [(entry, lack_of(entry)) for entry in entries]
    gone = () if names else GONE
    if as_json:
        rows = [document(entry, lack) for entry, lack in states] + [
            document_of_gone(technique) for technique in gone
        ]
        print_document(rows)
    else:
        show(states, gone, explain=bool(names))
