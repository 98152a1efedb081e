"""Real checks by the command line: of an app against itself, and of commits whose truth is known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from stackrace.app.app import Entry, EntryKind
from stackrace.features.regression.check_preparation import ready_check
from stackrace.features.regression.responses import samples_of
from stackrace.features.regression.variants import VariantRequest
from stackrace.race.judge.decisions import Decisions
from stackrace.race.judge.samples import Sample, Values
from stackrace.race.request.request import RaceRequest
from stackrace.race.results.comparison import Response
from stackrace.race.results.race import Race
from stackrace.race.run.runner import run
from stackrace.race.run.scheduling import Scheduling
from stackrace.stacks.stack import Side

from ..method._kept import Kept

STACKRACE = Path(sys.executable).with_name("stackrace")

APP = '''"""A page that waits ten milliseconds, as for a database, and computes for a tenth of that."""

import random
import time

WAIT_S = {wait_s}
WRONG = {wrong}
BODY = b"x" * 1000


def application(environ, start_response):
    time.sleep(WAIT_S)
    total = 0
    for number in range({turns}):
        total += number
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))])
    return [BODY.upper() if random.random() < WRONG else BODY]
'''

WAIT_S = 0.010
TURNS = 20_000
"""About a millisecond."""

RECORDED_S = 200.0
"""The budget of one race that is recorded."""


def record(kept: Kept, *, minutes: float) -> None:
    """Check a page that computes against itself until the time is over, and keep every block.

    No race ends early: of those that are answered soon all would be kept, of others only the beginning.
    """
    until = time.monotonic() + 60 * minutes
    with _repository(wait_s=0.0, turns=TURNS) as folder:
        request = RaceRequest(
            folder=folder,
            entry=Entry(kind=EntryKind.WSGI, target="page:application"),
            python=Path(sys.executable),
            budget_s=RECORDED_S,
        )
        own = {side: VariantRequest(environment={"SIDE": side}) for side in (Side.BASE, Side.HEAD)}
        while time.monotonic() + RECORDED_S < until:
            with ready_check(request, own, base=None, allowances={}, store=None) as ready:
                race = run(ready.plan, ready.machine, lambda event: None, begun_s=ready.begun_s, scheduling=Never())
            blocks = list(common(race.id, samples_of(race, _RECORDED), race.elapsed_s))
            for block in blocks:
                kept.add(block)
            print(f"{len(blocks)} blocks of race {race.id}, {len(kept.rows)} in all", flush=True)


_RECORDED = [response for response in Response if response.quantile is None]


class Never(Scheduling):
    """Rules of a race that goes on until its time is over."""

    def decide(self, race: Race) -> Decisions:
        """Return no decision."""
        return Decisions(settled=False, dropped=frozenset())


def common(race: str, found: Sequence[Sample], elapsed_s: float) -> Iterator[dict[str, object]]:
    """Yield each block in which every response has both values; each lacks blocks of its own."""
    by_block = {
        sample.response: dict(zip(sample.blocks, zip(sample.base, sample.head, strict=True), strict=True))
        for sample in found
        if isinstance(sample, Values)
    }
    shared = sorted(set.intersection(*map(set, by_block.values())))
    for block in shared:
        values = {str(response): own[block] for response, own in by_block.items()}
        yield {"race": race, "seconds": elapsed_s / len(shared), **values}


def check_for_real(
    kept: Kept, *, checks: int, sleeps: float, wrong: float, budget_s: float, minutes: float | None
) -> None:
    """Make ``checks`` checks of commits that change nothing, sleep so many per cent longer, or answer wrongly."""
    until = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    head = f"sleeps {sleeps:g} % longer" if sleeps else "the same"
    head = f"{wrong:g} % of answers are wrong" if wrong else head
    with _repository(wait_s=WAIT_S, turns=TURNS) as folder:
        for number in range(checks):
            if time.monotonic() > until:
                return
            _commit(folder, wait_s=WAIT_S, turns=TURNS, remark=f"before {number}")
            _commit(
                folder, wait_s=WAIT_S * (1 + sleeps / 100), turns=TURNS, remark=f"after {number}", wrong=wrong / 100
            )
            document = _check(folder, ["--base", "HEAD~1", "--budget", f"{budget_s:g}s"])
            if document is None:
                return
            names = ("response", "state", "change", "alarm")
            kept.add({
                "head": head, "budget_s": budget_s, "outcome": document["outcome"],
                "elapsed_s": document["race"]["elapsed_s"], "pairs": document["pairs"],
                "rulings": [{name: each[name] for name in names} for each in document["rulings"]],
            })  # fmt: skip
            print(f"check {number + 1} of {checks}, {head}: {document['words']['answer']}", flush=True)


@contextmanager
def _repository(*, wait_s: float, turns: int) -> Iterator[Path]:
    with TemporaryDirectory(prefix="checks") as folder:
        project = Path(folder, "app")
        project.mkdir()
        _git(project, "init", "--quiet", "--initial-branch", "main")
        _commit(project, wait_s=wait_s, turns=turns, remark="first")
        yield project


def _commit(folder: Path, *, wait_s: float, turns: int, remark: str, wrong: float = 0.0) -> None:
    text = APP.format(wait_s=round(wait_s, 9), turns=turns, wrong=wrong) + f"# {remark}\n"
    (folder / "page.py").write_text(text, encoding="utf-8")
    _git(folder, "add", "page.py")
    _git(folder, "-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "--quiet", "--message", remark)


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def _check(folder: Path, told: Sequence[str]) -> dict | None:  # type: ignore[type-arg]
    """Return the document of a check; None, and the reason is printed, where there is none."""
    store = f"sqlite:///{folder.parent / 'checks.sqlite3'}"
    base = ["--wsgi", "page:application", "--python", sys.executable, "--store", store, "--json"]
    data = {**os.environ, "XDG_DATA_HOME": str(folder.parent / "data")}
    command = [STACKRACE, "check", *base, *told]
    ended = subprocess.run(command, cwd=folder, env=data, capture_output=True, text=True, check=False)
    if not ended.stdout:
        print(f"stackrace check ended with exit code {ended.returncode}:\n{ended.stderr[-3000:]}", flush=True)
        return None
    document: dict[str, object] = json.loads(ended.stdout)
    return document
