"""What the experiments with real races share: small apps, a race by the command line, and its result."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stackrace.race.results.race import Race
from stackrace.race.results.standing import Standing
from stackrace.store import open_store

from ..rig.tables import line
from ._kept import SEEN, Kept

STACKRACE = Path(sys.executable).with_name("stackrace")
SPARE_S = 600.0
"""How much longer than its budget a race may take before it is ended: environments are built the first time.

Runs without a budget have so much, too.
"""

ENDING_S = 60.0
"""How long a race that was told to end has for stopping its servers."""

OUTCOMES = ("measured", "void", "refused", "failed")
"""What may come of a race: a standing; one that its twins or the hour make unbelievable; not all stacks measured;
no result, because the command was wrong, did not end or ended with an error."""

PAGE = '''"""A page that costs a fixed amount of work: WORK turns of a loop, and STACKRACE_MORE per mille on top."""

import os

TURNS = round(int(os.environ["WORK"]) * (1 + int(os.environ.get("STACKRACE_MORE", "0")) / 1000))
BODY = b"x" * 1000


def application(environ, start_response):
    total = 0
    for number in range(TURNS):
        total += number
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))])
    return [BODY]
'''


_KEPT = (0, 3)
"""Exit codes of races that have a result: 3 is one that is void, or of which no slice could be believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How `stackrace run` ended: its exit ``code``, None if it had to be ended; its ``document``, where it has a
    result; and the end of what it told meanwhile.
    """

    code: int | None
    document: dict[str, Any] | None
    message: str


class Arena:
    """A private folder with the app in it, where races are run and kept, gone afterwards."""

    def __init__(self, folder: Path, work: int) -> None:
        self.folder = folder
        self._work = work
        self._number = 0
        (folder / "page.py").write_text(PAGE, encoding="utf-8")
        self._empty = folder / "empty"
        self._empty.mkdir()
        self.store = f"sqlite:///{folder / 'races.sqlite3'}"

    def race(
        self, stacks: Sequence[str], *, load: Mapping[str, object] | None = None, **race: object
    ) -> Race | None:
        """Race ``stacks``; None, and the reason is printed, where that gave no result at all.

        Without a hidden twin: the stacks themselves are the subject. ``load`` and ``race`` are further keys of
        these tables.
        """
        self._number += 1
        file = self.folder / f"race{self._number}.toml"
        app = {"wsgi": "page:application", "python": sys.executable, "env": {"WORK": str(self._work)}}
        written = {
            "app": app,
            "load": {"concurrency": [4], **(load or {})},
            "race": {"stacks": list(stacks), "twin": False, **race},
        }
        file.write_text(_toml(written), encoding="utf-8")
        return self._race([str(file)], float(str(race.get("budget", 0))) + SPARE_S, self.folder)

    def default(self) -> Race | None:
        """Race what `stackrace run` races in an empty folder, in the time that it takes by itself."""
        return self._race([], SPARE_S)

    def run(self, told: Sequence[str], limit_s: float, folder: Path | None = None) -> Ran:
        """Run `stackrace run` with the arguments ``told`` in ``folder``, an empty one by default, to its end."""
        # a session of its own: Ctrl-C is handed on once, below, so that the race can stop its servers
        kept = ("--store", self.store, "--html", self.folder / "report.html", "--json")
        process = subprocess.Popen(
            [STACKRACE, "run", *told, *kept], cwd=folder or self._empty, text=True,
            env={**os.environ, "XDG_DATA_HOME": str(self.folder / "data")},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return Ran(code=None, document=None, message=f"it did not end within {limit_s:.0f} s")
        except BaseException:
            _end(process)
            raise
        document = json.loads(out) if out and process.returncode in _KEPT else None
        return Ran(code=process.returncode, document=document, message=err[-3000:])

    def _race(self, told: Sequence[str], limit_s: float, folder: Path | None = None) -> Race | None:
        ran = self.run(told, limit_s, folder)
        if ran.document is None:
            print(f"stackrace run ended with exit code {ran.code}:\n{ran.message}", flush=True)
            return None
        with open_store(self.store) as kept:
            return kept.load(ran.document["race"]["id"])


@contextmanager
def arena(work: int = 2000) -> Iterator[Arena]:
    """Hold an arena whose page costs ``work`` turns of a loop, 2000 being about 0.1 ms.

    An experiment that is told to end by SIGTERM ends its race and cleans up, as after Ctrl-C.
    """

    def end(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    with TemporaryDirectory(prefix="races") as folder:
        yield Arena(Path(folder), work)


def options(name: str, about: str, *, races: int, seconds: float) -> ArgumentParser:
    """Return the options that the experiment ``name`` shares with the others, with their defaults."""
    parser = ArgumentParser(description=about, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=races, help=f"how many races; {races} by default")
    parser.add_argument(
        "--budget", type=float, default=seconds, help=f"seconds for each race; {seconds:g} by default"
    )
    parser.add_argument("--minutes", type=float, help="begin no other race after so many; all races by default")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the summary there, too, after every race")
    parser.add_argument(
        "--keep", type=Path, metavar="PATH", default=SEEN / f"{name}.jsonl",
        help=f"where the races of all runs are kept and read from; benchmarks/method/seen/{name}.jsonl by default",
    )  # fmt: skip
    parser.add_argument("--anew", action="store_true", help="leave out what earlier runs saw, and keep nothing")
    return parser


def kept(given: Namespace) -> Kept:
    """Return what earlier runs saw, to be added to."""
    return Kept(Path(os.devnull) if given.anew else given.keep)


def rounds(given: Namespace, each: int = 1, beside_s: float = 0.0) -> Iterator[int]:
    """Number the races from 1 on, as long as there is time, having told how long all may take.

    ``each`` is how many races of the budget a number stands for, ``beside_s`` what comes on top of them.
    """
    most_s = given.races * (each * given.budget + beside_s)
    print(f"{given.races} x {each} races of {given.budget:g} s: up to {most_s / 60:.1f} min, and some s of"
          " setting up for each", flush=True)  # fmt: skip
    until = math.inf if given.minutes is None else time.monotonic() + 60 * given.minutes
    for number in range(1, given.races + 1):
        if time.monotonic() >= until:
            print(f"time is over after {number - 1} of {given.races}", flush=True)
            return
        yield number


def table(title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Print ``rows``, all with the same keys, as a table with a title."""
    print(f"\n{title}")
    if not rows:
        print("  nothing was measured", flush=True)
        return
    cells = [list(rows[0]), *([_word(value) for value in row.values()] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        print("  " + line(row, [-widths[0], *widths[1:]]))
    # whoever reads a log sees it at once, and a run that is cut off has told what it had
    sys.stdout.flush()


def write(path: Path | None, document: object) -> None:
    """Write ``document`` as JSON, if there is a place for it; what was there stays whole until then."""
    if path is not None:
        new = path.with_name(f"{path.name}.new")
        new.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        new.replace(path)


def outcome(raced: Race | None, standing: Standing | None) -> str:
    """Return which of ``OUTCOMES`` came of a race: only a measured one says anything about its stacks."""
    if raced is None or standing is None:
        return "failed"
    if not standing.levels or len(standing.rows) < len(raced.stacks):
        return "refused"
    return "measured" if standing.verdict.valid else "void"


def outcomes(found: Sequence[Mapping[str, object]]) -> dict[str, int]:
    """Count the rows of ``found`` by their outcome."""
    return {name: sum(one["outcome"] == name for one in found) for name in OUTCOMES}


@contextmanager
def stolen() -> Iterator[Callable[[], float]]:
    """Measure what part of the machine's CPU time its hypervisor took, by calling what is given at the end."""
    before = _jiffies()

    def share() -> float:
        now = _jiffies()
        whole = sum(now) - sum(before)
        return (now[7] - before[7]) / whole if whole else 0.0

    yield share


def _jiffies() -> list[int]:
    """Return user, nice, system, idle, iowait, irq, softirq, steal. Source: proc(5), /proc/stat."""
    return [int(word) for word in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]]


def _end(process: subprocess.Popen[str]) -> None:
    # not SIGINT: what a shell runs in the background ignores that
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _word(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """JSON's strings, numbers and lists are TOML's; tables within tables are written inline."""
    return "".join(
        f"[{name}]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in content.items()) + "\n"
        for name, content in tables.items()
    )


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_value(one)}" for key, one in value.items()) + " }"
    return re.sub(r"^(\d+)e", r"\1.0e", json.dumps(value))
