"""``stackrace stacks``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..base.errors import Lack
from ..deploy.installation import installed_version
from ..race.preparation.defaults import most_used
from ..report.terminal import make_console
from ..stacks.servers import catalogue
from ..stacks.servers.catalogue import Gone
from ..stacks.servers.contract import Entry
from ..stacks.stack import Interface, Setting
from ..stacks.stack_path import setting_text
from .install import elsewhere
from .request_flags import servers_option


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
    from ..deploy.installation import lack_of
    from ..stacks.servers import catalogue
    from ..stacks.servers.catalogue import GONE
    from .arguments import entries_called
    from .showing import print_document

    known = catalogue().extended(servers)
    entries = entries_called(names, known) if names else list(known)
    states = [(entry, lack_of(entry)) for entry in entries]
    gone = () if names else GONE
    if as_json:
        rows = [_document(entry, lack) for entry, lack in states] + [
            _document_of_gone(technique) for technique in gone
        ]
        print_document(rows)
    else:
        _show(states, gone, explain=bool(names))


_States = Sequence[tuple[Entry, Lack | None]]


def _document(entry: Entry, lack: Lack | None) -> dict[str, object]:
    """Return one server as the JSON output has it."""
    spec = entry.spec
    return {
        "name": spec.name,
        "title": spec.title,
        "state": lack.state if lack else "ready",
        "ready": lack is None,
        "missing": lack.missing if lack else "",
        "install": lack.install if lack else "",
        "get": lack.install or lack.elsewhere if lack else "",
        "version": installed_version(entry),
        "debian_packages": list(entry.needs.apt),
        "listens": sorted(spec.listens),
        "forwards": {protocol: list(sockets) for protocol, sockets in sorted(spec.forwards.items())},
        "hosts": sorted(spec.hosts),
        "inside": sorted(spec.inside),
        "settings": [_setting(setting) for setting in spec.settings],
    }


def _document_of_gone(gone: Gone) -> dict[str, object]:
    """Return one technique that is gone as the JSON output has it."""
    return {
        "name": gone.name,
        "title": gone.was,
        "state": "gone",
        "ready": False,
        "missing": gone.because,
        "install": "",
        "get": f"no longer to be had; its nearest kin: {', '.join(gone.kin)}",
        "kin": list(gone.kin),
    }


def _setting(setting: Setting) -> dict[str, object]:
    bounds = isinstance(setting.default, int) and not isinstance(setting.default, bool)
    return {
        "name": setting.name,
        "default": setting.default,
        "choices": list(setting.choices),
        "range": [setting.minimum, setting.maximum] if bounds else None,
        "origin": setting.origin,
        "only": {name: list(values) for name, values in setting.only.items()},
        "help": setting.help,
    }


def _show(states: _States, gone: Sequence[Gone], *, explain: bool) -> None:
    """Print the catalogue as a table, then ``gone``; ``explain`` adds every setting's meaning."""
    console = make_console()
    console.print(_table(states))
    if explain:
        for entry, _ in states:
            console.print()
            console.print(_settings(entry))
            if entry.faults:
                console.print()
            for fault in entry.faults:
                where = f"{fault.where}: " if fault.where else ""
                console.print(f"Beware: {where}{fault.text}", soft_wrap=True, markup=False, highlight=False)
    if gone:
        console.print()
        console.print(_gone(gone))
    if not explain:
        ready, _ = most_used(catalogue(), frozenset({Interface.WSGI, Interface.ASGI}), sys.version_info[:2])
        console.print()
        console.print(f"Raced by default: {'  '.join(stack.path for stack in ready)}")
    _say_how_to_get(console, len(states), [lack for _, lack in states if lack])


def _say_how_to_get(console: Console, all_: int, lacks: Sequence[Lack]) -> None:
    missing = [lack.name for lack in lacks if not lack.elsewhere]
    if missing:
        console.print()
        console.print(
            f"{len(missing)} of {all_} are missing; all at once: stackrace install {' '.join(missing)}",
            soft_wrap=True,
        )
    if own := [lack for lack in lacks if lack.elsewhere]:
        console.print()
        for lack in own:
            console.print(elsewhere(lack), soft_wrap=True)


def _table(states: _States) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("server", "state", "listens to", "forwards", "hosts"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("server", "state"))
    for entry, lack in states:
        spec = entry.spec
        table.add_row(
            spec.name,
            _state(entry, lack),
            " ".join(sorted(spec.listens)) or f"inside {' '.join(sorted(spec.inside))}",
            " ".join(sorted(spec.forwards)),
            " ".join(sorted(spec.hosts)),
        )
    return table


def _state(entry: Entry, lack: Lack | None) -> Text:
    if lack:
        return Text(lack.state, style="yellow")
    from_pypi = entry.requirements({knob.name: knob.default for knob in entry.spec.settings})
    return Text("ready (PyPI)" if from_pypi else f"ready {installed_version(entry)}".strip(), style="green")


def _gone(gone: Sequence[Gone]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("gone", "what it was", "use instead"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "gone")
    for technique in gone:
        table.add_row(technique.name, technique.was, "  ".join(technique.kin), style="dim")
    return table


def _settings(entry: Entry) -> Table:
    table = Table(title=entry.spec.title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for heading in ("setting", "default", "values", "origin", "what it does"):
        table.add_column(heading, overflow="fold")
    for setting in entry.spec.settings:
        number = isinstance(setting.default, int) and not isinstance(setting.default, bool)
        values = f"{setting.minimum}–{setting.maximum}" if number else " ".join(setting.choices) or "on off"
        table.add_row(setting.name, setting_text(setting.default), values, setting.origin, setting.help)
    return table
