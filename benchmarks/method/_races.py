"""What the experiments with real races share: small apps, a race by the command line, and its result."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stackrace.model.race import Race
from stackrace.model.standing import Standing

__all__ = ["Arena", "arena", "best", "budget", "interval", "options", "table", "write"]

STACKRACE = Path(sys.executable).with_name("stackrace")
SPARE_S = 240.0
"""How much longer than its budget a race may take before it is ended: environments are built the first time."""

PAGE = '''"""A page that costs a fixed amount of work: WORK turns of a loop, and STACKRACE_MORE percent on top."""

import os

TURNS = int(int(os.environ.get("WORK", "2000")) * (1 + float(os.environ.get("STACKRACE_MORE", "0")) / 100))
BODY = b"x" * 1000


def application(environ, start_response):
    total = 0
    for number in range(TURNS):
        total += number
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))])
    return [BODY]
'''


class Arena:
    """A private folder with the app in it, where races are run and kept, gone afterwards."""

    def __init__(self, folder: Path, work: int) -> None:
        self.folder = folder
        self._work = work
        self._number = 0
        (folder / "page.py").write_text(PAGE, encoding="utf-8")

    def race(
        self,
        stacks: Sequence[str],
        *,
        concurrency: Sequence[int] = (4,),
        load: Mapping[str, object] | None = None,
        limit_s: float = 600.0,
        **race: object,
    ) -> Race:
        """Race ``stacks`` without a hidden twin: they themselves are the subject.

        ``race`` and ``load`` are further keys of these tables. ``limit_s`` bounds races without a budget.
        """
        self._number += 1
        file = self.folder / f"race{self._number}.toml"
        written = {
            "app": {
                "wsgi": "page:application",
                "python": sys.executable,
                "env": {"WORK": str(self._work)},
            },
            "load": {"concurrency": list(concurrency), **(load or {})},
            "race": {"stacks": list(stacks), "twin": False, **race},
        }
        file.write_text(_toml(written), encoding="utf-8")
        return self._run(file, float(str(race.get("budget", limit_s))) + SPARE_S)

    def standing(self, race: Race) -> Standing:
        """Return how ``race`` stands."""
        from stackrace.report.result import standing_of

        return standing_of(race)

    def _run(self, file: Path, limit_s: float) -> Race:
        from stackrace.store import open_store

        store = f"sqlite:///{self.folder / 'races.sqlite3'}"
        done = subprocess.run(
            [STACKRACE, "run", file, "--store", store, "--html", self.folder / "report.html", "--json"],
            cwd=self.folder, env={**os.environ, "XDG_DATA_HOME": str(self.folder / "data")}, check=False,
            capture_output=True, text=True, timeout=limit_s,
        )  # fmt: skip
        # 3: no slice could be believed, which is kept like any other result
        if done.returncode not in (0, 3) or not done.stdout:
            raise SystemExit(f"stackrace run ended with exit code {done.returncode}:\n{done.stderr[-3000:]}")
        with open_store(store) as kept:
            return kept.load(json.loads(done.stdout)["race"]["id"])


@contextmanager
def arena(work: int = 2000) -> Iterator[Arena]:
    """Hold an arena whose page costs ``work`` turns of a loop, 2000 being about 0.1 ms."""
    with TemporaryDirectory(prefix="races") as folder:
        yield Arena(Path(folder), work)


def options(about: str, *, races: int, seconds: float) -> ArgumentParser:
    """Return the options that every experiment has, with their defaults."""
    parser = ArgumentParser(description=about)
    parser.add_argument("--races", type=int, default=races, help=f"how many races; {races} by default")
    parser.add_argument(
        "--budget", type=float, default=seconds, help=f"seconds for each race; {seconds:g} by default"
    )
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the rows there, too")
    return parser


def budget(given: Namespace) -> str:
    """Tell how long an experiment may take at most."""
    return f"{given.races} races of {given.budget:g} s"


def table(title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Print ``rows``, all with the same keys, as a table with a title."""
    print(f"\n{title}")
    if not rows:
        print("  nothing was measured")
        return
    cells = [list(rows[0]), *([_word(value) for value in row.values()] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        first = row[0].ljust(widths[0])
        print(
            "  " + "  ".join([first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
        )


def write(path: Path | None, document: object) -> None:
    """Write ``document`` as JSON, if there is a place for it."""
    if path is not None:
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def interval(count: int, number: int) -> tuple[float, float]:
    """Return Wilson's 95 % limits of a share.

    Source: Wilson 1927, Journal of the American Statistical Association 22.
    """
    if number == 0:
        return 0.0, 1.0
    z, share = 1.96, count / number
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = z * (share * (1 - share) / number + z * z / (4 * number**2)) ** 0.5 / (1 + z * z / number)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def best(standing: Standing) -> str:
    """Return the only stack that nobody can be better than, or nothing."""
    first = [row.stack for row in standing.rows if row.rank[1] == 1]
    return first[0] if len(first) == 1 else ""


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
