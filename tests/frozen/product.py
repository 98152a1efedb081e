"""Everything that these tests take from the product, in one place: where a module moves, only this file changes.

Features are imported where they are used: the core's tests can be collected without them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import click
from click.testing import CliRunner

from stackrace import __version__
from stackrace.base.codec import decode, encode
from stackrace.base.errors import StackraceError
from stackrace.cli.live_race import Output, report_of
from stackrace.cli.main import cli
from stackrace.features.export.equivalence import equivalence_of
from stackrace.race import events
from stackrace.race.judge.decisions import Decisions, decisions
from stackrace.race.results.race import Race
from stackrace.race.results.standing import Standing
from stackrace.race.run import block
from stackrace.report.merged_standing import standing_of
from stackrace.stats.judge import Judgement, judge
from stackrace.stats.values import Question
from stackrace.store import open_store

VERSION = __version__
RECORDED = Path(__file__).with_name("recorded")


class Said(NamedTuple):
    """What a verb said."""

    out: str
    """On stdout."""
    end: str
    """Its error, if there was one, and its exit code."""


def recorded(kind: str) -> list[str]:
    """Return the names of the recorded results of a kind, by which they begin."""
    return sorted(path.name.removesuffix(".json.gz") for path in RECORDED.glob(f"{kind}*.json.gz"))


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


def races(name: str) -> tuple[Race, ...]:
    """Return the recorded races of a project."""
    return read(tuple[Race, ...], name)


def store_of(path: Path, races: Sequence[Race]) -> str:
    """Keep ``races`` in a new store at ``path``; returns its URL."""
    url = f"sqlite:///{path}"
    with open_store(url) as store:
        for each in races:
            store.begin(each)
    return url


def verb(*words: str | Path, store: str = "", data: Path | None = None) -> str:
    """Return what a verb prints on stdout, on a screen of 100 columns; it must succeed.

    ``data`` is the user's folder of data.
    """
    said = _said(cli, *map(str, words), store=store, data=data)
    assert said.end == "exit code 0\n", said
    return said.out


def kind_of(race: Race) -> str:
    """Return what a race is: ``check``, ``tuning`` or ``race``."""
    parts = encode(race).get("parts", {})
    return next((kind for kind in ("check", "tuning") if kind in parts), "race")


def end_of(race: Race, *, store: str, html: Path, as_json: bool = False) -> Said:
    """Return what the verb that made ``race`` says at its end."""
    if kind_of(race) == "tuning":
        return _end_of_tuning(race, store, html, as_json=as_json)
    if kind_of(race) == "check":
        return _end_of_check(race, store, {"html": html}, as_json=as_json)

    def end() -> None:
        with open_store(store) as opened:
            report_of(race, opened, Output(store=store, html=html, as_json=as_json))

    return _said(click.command()(end), store=store)


def check_file(race: Race, form: str, *, store: str, folder: Path) -> str:
    """Return the file that ``stackrace check --FORM`` writes of ``race``."""
    path = folder / f"{race.id}.{form}"
    _end_of_check(race, store, {form: path, "html": folder / "unread.html"}, as_json=True)
    return path.read_text(encoding="utf-8")


def load(name: str, *flags: str) -> Said:
    """Return what ``stackrace load`` says of a recorded run; nothing is sent."""
    run = import_module("stackrace.cli.load.run")
    ran = read(run.FinishedRun, name)
    with mock.patch.object(run, "_measured", lambda *_, **__: ran):
        return _said(cli, "load", *ran.target.urls, *flags)


def capacity(name: str, *flags: str) -> Said:
    """Return what ``stackrace capacity`` says of a recorded search; nothing is sent."""
    from stackrace.features.capacity.trials import CapacityResult

    search = import_module("stackrace.features.capacity.capacity_report")
    found = read(CapacityResult, name)
    with mock.patch.object(search, "find_capacity", lambda *_, **__: found):
        return _said(cli, "capacity", *found.closed.target.urls, "--p99", "1s", *flags)


def keep_rerun(name: str, data: Path) -> None:
    """Keep a recorded rerun of a published comparison where ``stackrace report`` looks for it."""
    from stackrace.features.comparisons.raced_again import keep
    from stackrace.features.comparisons.rerun import Kept

    keep(read(Kept, name), data / "stackrace" / "historic")


def export(stack: str, race: Race | None, proof: str | None, folder: Path, *flags: str) -> Said:
    """Return what ``stackrace export`` says of a ``stack`` of a made-up app, whose files it writes to ``folder``.

    ``race`` speaks for it; ``proof`` is the recorded one of its files.
    """
    from tests.features.export.exports import export_of

    from stackrace.features.export.equivalence import Proof

    evidence, exports, proofs, subjects = (
        import_module(f"stackrace.features.export.{name}") for name in ("evidence", "export", "proof", "subject")
    )
    made = replace(export_of(stack), race=race, standing=race and standing_of(race), notes=("A note.",))
    with (
        mock.patch.object(subjects, "subject_of", lambda *_: SimpleNamespace(request=None, notes=made.notes)),
        mock.patch.object(exports, "exported", lambda *_: nullcontext((made, None))),
        mock.patch.object(proofs, "proven", lambda *_, **__: read(Proof, proof)),
        mock.patch.object(evidence, "_limits", lambda _: "It has limits."),
        mock.patch.object(evidence, "_changes", lambda _: ("A file was changed.",)),
    ):
        return _said(cli, "export", stack, "--to", str(folder), *flags)


def doctor(examination: Any, data: Path, *flags: str) -> Said:
    """Return what ``stackrace doctor`` says of a machine that was examined."""
    examined = import_module("stackrace.features.doctor.all_advice")
    with mock.patch.object(examined, "examine_machine", lambda *_: examination):
        return _said(cli, "doctor", *flags, data=data)


def cluster(members: Sequence[Any], *flags: str) -> Said:
    """Return what ``stackrace cluster`` says of the machines of a cluster."""
    with _connected(members):
        return _said(cli, "cluster", "tcp://10.0.0.1:8786", *flags)


def doctor_of_cluster(examination: Any, *flags: str) -> Said:
    """Return what ``stackrace doctor --cluster`` says of machines that were examined."""
    prepared = import_module("stackrace.race.preparation.prepared")
    elsewhere = SimpleNamespace(examined=lambda *_: examination)
    with mock.patch.object(prepared, "machine_source", lambda: elsewhere):
        return _said(cli, "doctor", "--cluster", "tcp://10.0.0.1:8786", *flags)


@contextmanager
def _connected(members: Sequence[Any]) -> Iterator[None]:
    """Let every connection find ``members``."""
    connection = import_module("stackrace.features.cluster.connection")
    found = mock.MagicMock(**{"return_value.__enter__.return_value.members.return_value": members})
    with mock.patch.object(connection, "Connection", found):
        yield


def live(plan: Any) -> Any:
    """Return who tells a race's events on stderr."""
    from stackrace.cli.progress import LiveSink

    return LiveSink(plan, 0.0)


def live_check(plan: Any) -> Any:
    """Return who tells a check's events on stderr."""
    from stackrace.features.regression.run import _CheckProgress

    return _CheckProgress(SimpleNamespace(begun_s=0.0, plan=plan))


def blocks_of(race: Race) -> Iterator[Any]:
    """Yield the events of a recorded race: its begin, each block with its launches, its end."""
    so_far: list[Any] = []
    yield events.RaceStarted(race=race)
    for number in sorted({launch.block for launch in race.launches}):
        launches = [launch for launch in race.launches if launch.block == number]
        yield events.BlockStarted(block=number, stacks=tuple(each.stack for each in launches), eta_s=None)
        for launch in launches:
            yield events.LaunchStarted(launch=launch)
            yield from (events.SliceEnded(launch_id=launch.id, slice=each) for each in launch.slices)
            yield events.LaunchEnded(launch=launch)
        so_far += launches
        yield events.BlockEnded(block=number + 1, race=replace(race, launches=tuple(so_far), ending=None))
    assert race.ending is not None
    yield events.RaceEnded(ending=race.ending, elapsed_s=race.elapsed_s)


def at(event: Any, elapsed_s: float) -> Any:
    """Return the event as it comes so many seconds after the race's begin."""
    if not isinstance(event, events.BlockEnded):
        return event
    return replace(event, race=replace(event.race, elapsed_s=elapsed_s))


def decided(race: Race) -> Decisions:
    """Return what a race may do next: end, or go on without some."""
    if kind_of(race) != "check":
        return decisions(race)
    from stackrace.features.regression.ruling import decide

    return decide(race)


def answered(race: Race) -> Standing:
    """Return the standing of a race."""
    return standing_of(race)


def checked(race: Race) -> Any:
    """Return the answer of a check so far."""
    from stackrace.features.regression.ruling import gate_answer

    return gate_answer(race)


def found(race: Race) -> Any:
    """Return what a tuning found."""
    from stackrace.features.tune.tuning_result import tuned

    return tuned(race)


def proven(race: Race, stack: Any, difference: float) -> Any:
    """Return what a race of an original and its exported files proves."""
    return equivalence_of(race, stack, difference)


def judged(values: Any, difference: float, *, ranking: bool) -> Judgement:
    """Return what is known of stacks by their values in each block."""
    return judge(values, difference, question=Question.RANKING if ranking else Question.WINNER)


def let_time_pass(monkeypatch: Any, clock: Callable[[], float]) -> None:
    """Let every step of a race look at ``clock``."""
    monkeypatch.setattr(block.time, "monotonic", clock)


def _end_of_tuning(race: Race, store: str, html: Path, *, as_json: bool) -> Said:
    from stackrace.features.tune.strategy import show

    return _said(click.command()(lambda: show(race, html=html, as_json=as_json)), store=store)


def _end_of_check(race: Race, store: str, files: dict[str, Path], *, as_json: bool) -> Said:
    from stackrace.features.regression import run

    return _said(click.command()(lambda: run._report(race, files, as_json=as_json)), store=store)


def _said(command: Callable[..., Any], *words: str, store: str = "", data: Path | None = None) -> Said:
    """Return what ``command`` says, with the error and the exit code that the command line would make of it."""
    environment = {"COLUMNS": "100", "STACKRACE_STORE": store or None}
    if data is not None:
        environment["XDG_DATA_HOME"] = str(data)
    done = CliRunner().invoke(command, words, env=environment)
    error = done.exception
    if isinstance(error, StackraceError):
        return Said(done.stdout, f"error: {error.message}\nexit code {error.exit_code}\n")
    assert error is None or isinstance(error, SystemExit), (done.output, error)
    return Said(done.stdout, f"exit code {done.exit_code}\n")
