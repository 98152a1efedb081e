"""``stackrace stacks``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from ..base.errors import MissingItem
from ..base.process import uv_missing
from ..deploy.installation import installed_version, missing_item
from ..race.preparation.defaults import most_used
from ..report.exporter import Kind
from ..report.sheet import Column, Drawing, Section, Table, Tone, as_lines
from ..stacks.servers import Catalogue, catalogue
from ..stacks.servers.contract import Entry
from ..stacks.setting import Interface, Setting
from ..stacks.stack_path import check_version, setting_text, unknown_server
from .install import elsewhere
from .options import servers_option
from .showing import show_result


@click.command(
    epilog="""\b
Examples:
  stackrace stacks                    every server and its state
  stackrace stacks gunicorn           one server with all its settings explained
  stackrace stacks --json | jq '.[] | select(.state == "missing") | .install'"""
)
@click.argument("names", nargs=-1, metavar="[SERVER]...")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array with an object for each server.")
@servers_option
def command(names: tuple[str, ...], as_json: bool, servers: Path | None) -> None:
    """List the servers: what is ready, what is missing, and which command installs it."""
    known = catalogue().extended(servers)
    entries = _called(names, known) if names else list(known)
    states = [(entry, missing_item(entry)) for entry in entries]
    kind: Kind[_States] = Kind(
        sections=lambda states: _sections(states, explain=bool(names)),
        document=lambda states: [_document(*state) for state in states],
    )
    show_result(kind, states, as_json=as_json)


def _called(names: Sequence[str], known: Catalogue) -> list[Entry]:
    """Return the entries of ``names``; raise StackError with the nearest name for an unknown one."""
    entries = known.entries
    called = []
    for name, at, version in (name.partition("@") for name in names):
        if name not in entries:
            raise unknown_server(name, known.specs)
        if at:
            check_version(entries[name].spec, version)
        called.append(entries[name])
    return called


_States = Sequence[tuple[Entry, MissingItem | None]]

_LEAST = 8
"""Least width of a column with wrapped text."""


def _document(entry: Entry, item: MissingItem | None) -> dict[str, object]:
    spec = entry.spec
    return {
        "name": spec.name,
        "title": spec.title,
        "state": item.state if item else "ready",
        "ready": item is None,
        "missing": item.missing if item else "",
        "install": item.install if item else "",
        "get": item.install or item.elsewhere if item else "",
        "version": installed_version(entry, by_package=True),
        "debian_packages": list(entry.needs.apt),
        "fedora_packages": list(entry.needs.dnf),
        "alpine_packages": list(entry.needs.apk),
        "listens": sorted(spec.listens),
        "forwards": {protocol: list(sockets) for protocol, sockets in sorted(spec.forwards.items())},
        "hosts": sorted(spec.hosts),
        "inside": sorted(spec.inside),
        "settings": [_setting(setting) for setting in spec.settings],
    }


def _setting(setting: Setting) -> dict[str, object]:
    return {
        "name": setting.name,
        "default": setting.default,
        "choices": list(setting.choices),
        "range": [setting.minimum, setting.maximum] if _has_range(setting) else None,
        "origin": setting.origin,
        "only": {name: list(values) for name, values in setting.only.items()},
        "help": setting.help,
    }


def _sections(states: _States, *, explain: bool) -> Iterator[Section]:
    yield Section(title="", blocks=(_servers(states),))
    for entry, _ in states if explain else ():
        yield Section(title=entry.spec.title, blocks=(_settings(entry),))
        yield as_lines(f"Beware: {f'{fault.where}: ' if fault.where else ''}{fault.text}" for fault in entry.faults)
    if not explain:
        ready, _ = most_used(catalogue(), frozenset({Interface.WSGI, Interface.ASGI}), sys.version_info[:2])
        default = Drawing(lines=(f"Raced by default: {'  '.join(stack.path for stack in ready)}",))
        yield Section(title="", blocks=(default,))
    missing = [item for _, item in states if item]
    if names := [item.name for item in missing if not item.elsewhere]:
        all_ = f"all at once: stackrace install {' '.join(names)}"
        yield as_lines([f"{len(names)} of {len(states)} are missing; {all_}"])
    yield as_lines(elsewhere(item) for item in missing if item.elsewhere)
    yield as_lines(filter(None, [uv_missing()]))


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], tones: tuple[Tone, ...] = ()) -> Table:
    """Return a table of texts that wraps all but the first two columns; ``tones`` are the tones of the second
    column."""
    return Table(columns=tuple(
        Column(title=title, cells=tuple(row[index] for row in rows), left=True,
               tones=tones if index == 1 else (), wraps=(_LEAST, 1) if index > 1 else None)
        for index, title in enumerate(titles)
    ))  # fmt: skip


def _servers(states: _States) -> Table:
    rows = [
        (
            entry.spec.name,
            item.state if item else _ready_state(entry),
            " ".join(sorted(entry.spec.listens)) or f"inside {' '.join(sorted(entry.spec.inside))}",
            " ".join(sorted(entry.spec.forwards)),
            " ".join(sorted(entry.spec.hosts)),
        )
        for entry, item in states
    ]
    tones = tuple(Tone.DOUBTFUL if item else Tone.GOOD for _, item in states)
    return _table(("server", "state", "listens to", "forwards", "hosts"), rows, tones)


def _ready_state(entry: Entry) -> str:
    from_pypi = entry.requirements({knob.name: knob.default for knob in entry.spec.settings})
    return "ready (PyPI)" if from_pypi else f"ready {installed_version(entry, by_package=True)}".strip()


def _settings(entry: Entry) -> Table:
    rows = [
        (setting.name, setting_text(setting.default), _values(setting), setting.origin, setting.help)
        for setting in entry.spec.settings
    ]
    return _table(("setting", "default", "values", "origin", "what it does"), rows)


def _values(setting: Setting) -> str:
    return f"{setting.minimum}–{setting.maximum}" if _has_range(setting) else " ".join(setting.choices) or "on off"


def _has_range(setting: Setting) -> bool:
    return isinstance(setting.default, int) and not isinstance(setting.default, bool)
