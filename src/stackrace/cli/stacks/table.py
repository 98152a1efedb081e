"""How ``stackrace stacks`` shows the catalogue."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...deploy.installation import Availability, State
from ...model.stack import Interface, Setting
from ...servers import catalogue
from ...servers.contract import Entry
from ...servers.gone import Gone
from ...setup.choosing import most_used

__all__ = ["document", "document_of_gone", "show"]

States = Sequence[tuple[Entry, Availability]]


def document(entry: Entry, state: Availability) -> dict[str, object]:
    """Return one server as the JSON output has it."""
    spec = entry.spec
    return {
        "name": spec.name,
        "title": spec.title,
        "state": state.state,
        "ready": state.ready,
        "missing": state.missing,
        "install": state.install,
        "get": state.install or state.elsewhere,
        "version": state.version,
        "debian_packages": list(state.packages),
        "listens": sorted(spec.listens),
        "forwards": {protocol: list(sockets) for protocol, sockets in sorted(spec.forwards.items())},
        "hosts": sorted(spec.hosts),
        "inside": sorted(spec.inside),
        "settings": [_setting(setting) for setting in spec.settings],
    }


def document_of_gone(gone: Gone) -> dict[str, object]:
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
        "help": setting.help,
    }


def show(states: States, gone: Sequence[Gone], *, explain: bool) -> None:
    """Print the catalogue as a table, then ``gone``; ``explain`` adds every setting's meaning."""
    console = Console()
    console.print(_table(states))
    if explain:
        for entry, _ in states:
            console.print()
            console.print(_settings(entry))
    if gone:
        console.print()
        console.print(_gone(gone))
    if not explain:
        ready = most_used(catalogue(), frozenset({Interface.WSGI, Interface.ASGI}), sys.version_info[:2])
        console.print()
        console.print(f"Raced by default: {'  '.join(stack.path for stack in ready)}")
    _say_how_to_get(console, [state for _, state in states])


def _say_how_to_get(console: Console, states: Sequence[Availability]) -> None:
    missing = [state.name for state in states if state.state is State.MISSING]
    if missing:
        console.print()
        console.print(
            f"{len(missing)} of {len(states)} are missing; all at once: stackrace install {' '.join(missing)}",
            soft_wrap=True,
        )
    elsewhere = [state for state in states if state.state is State.NOT_INSTALLED]
    if elsewhere:
        console.print()
        for state in elsewhere:
            console.print(f"{state.title} has no Debian package; {state.elsewhere}", soft_wrap=True)


def _table(states: States) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("server", "state", "listens to", "forwards", "hosts"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("server", "state"))
    for entry, state in states:
        spec = entry.spec
        table.add_row(
            spec.name,
            _state(state, bool(entry.requirements(_defaults(entry)))),
            " ".join(sorted(spec.listens)) or f"inside {' '.join(sorted(spec.inside))}",
            " ".join(sorted(spec.forwards)),
            " ".join(sorted(spec.hosts)),
        )
    return table


def _state(state: Availability, from_pypi: bool) -> Text:
    if not state.ready:
        return Text(state.state, style="yellow")
    return Text("ready (PyPI)" if from_pypi else f"ready {state.version}".strip(), style="green")


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
        default = str(setting.default)
        if isinstance(setting.default, bool):
            default = "on" if setting.default else "off"
        table.add_row(setting.name, default, values, setting.origin, setting.help)
    return table


def _defaults(entry: Entry) -> dict[str, str | int | bool]:
    return {setting.name: setting.default for setting in entry.spec.settings}
