"""Everything that these tests take from the product, in one place: where a module moves, only this file changes.

Features are imported where they are used: the core's tests can be collected without them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from stackrace.base.codec import decode, encode
from stackrace.base.errors import StackraceError
from stackrace.cli.main import cli
from stackrace.cli.run.live import report_of
from stackrace.cli.run.output import Output
from stackrace.race.results.race import Race
from stackrace.store import open_store

RECORDED = Path(__file__).with_name("recorded")


def read(kind: Any, name: str) -> Any:
    """Return the recorded result called ``name``."""
    return decode(kind, json.loads(gzip.decompress((RECORDED / f"{name}.json.gz").read_bytes())), name)


def write(value: object, name: str) -> Path:
    """Record a result under ``name``."""
    path = RECORDED / f"{name}.json.gz"
    text = json.dumps(encode(value), separators=(",", ":"), sort_keys=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return path


def race(name: str) -> Race:
    """Return the recorded race called ``name``."""
    return read(Race, name)


def store_of(path: Path, races: Sequence[Race]) -> str:
    """Keep ``races`` in a new store at ``path``; returns its URL."""
    url = f"sqlite:///{path}"
    with open_store(url) as store:
        for each in races:
            store.begin(each)
    return url


def verb(*words: str | Path, store: str) -> str:
    """Return what a verb prints on stdout, on a screen of 100 columns; it must succeed."""
    done = CliRunner().invoke(cli, [str(word) for word in words], env=_environment(store))
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def end_of(race: Race, *, store: str, html: Path) -> str:
    """Return what the verb that made ``race`` prints at its end, and its exit code."""
    if race.tuning is not None:
        return _end_of_tuning(race, store, html)
    if race.gate is not None:
        return _end_of_check(race, store, {"html": html}, as_json=False)

    @click.command()
    def command() -> None:
        with open_store(store) as opened:
            report_of(race, opened, Output(store=store, html=html))

    return _ended(command, store)


def check_file(race: Race, form: str, *, store: str, folder: Path) -> str:
    """Return the file that ``stackrace check --FORM`` writes of ``race``."""
    path = folder / f"{race.id}.{form}"
    _end_of_check(race, store, {form: path, "html": folder / "unread.html"}, as_json=True)
    return path.read_text(encoding="utf-8")


def _end_of_tuning(race: Race, store: str, html: Path) -> str:
    from stackrace.features.tune.cli.run import show_outcome

    @click.command()
    def command() -> None:
        show_outcome(race, html=html, as_json=False)

    return _ended(command, store)


def _end_of_check(race: Race, store: str, files: dict[str, Path], *, as_json: bool) -> str:
    from stackrace.features.regression.cli import run

    @click.command()
    def command() -> None:
        run._report(race, run.Outputs(files=files, as_json=as_json, store=store))

    return _ended(command, store)


def _ended(command: Callable[..., Any], store: str) -> str:
    """Return stdout of ``command``, with the error and the exit code that the command line would make of it."""
    done = CliRunner().invoke(command, [], env=_environment(store))
    error = done.exception
    if isinstance(error, StackraceError):
        return f"{done.stdout}error: {error.message}\nexit code {error.exit_code}\n"
    assert error is None or isinstance(error, SystemExit), error
    return f"{done.stdout}exit code {done.exit_code}\n"


def _environment(store: str) -> dict[str, str]:
    return {"COLUMNS": "100", "STACKRACE_STORE": store}
