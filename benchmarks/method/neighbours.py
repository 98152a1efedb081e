"""Races beside busy neighbours: is anything false said, and is anything said at all?

    python -m benchmarks.method.neighbours                  ten races of each kind: 90 races, at most 100 minutes
    python -m benchmarks.method.neighbours --races 1        one of each, at most 10 minutes
    python -m benchmarks.method.neighbours --only build --priority

The same three stacks race on a quiet machine and beside each neighbour, with and without the priority that a race
takes where it may (as root). A row is kept as soon as its race is over; the next run goes on where this one ended.
The races themselves are kept in a store beside the rows (.sqlite3).

What is true is told by the quiet races: the mean of ln(ratio) over races, with its 95 % limits. A statement is
false where these limits exclude it: a stack in an earlier tier, or named the best, that is slower; a good choice
that is further behind than what matters; stacks called alike that differ by more. Goals beside each neighbour:

- no false statement;
- at least 90 % of the rows with limits hold the quiet ratio;
- with priority, an answer in at least 80 % of the races;
- without it an answer, "no winner yet", or a refusal (exit code 3); with or without, nothing else.
"""

from __future__ import annotations

import math
import os
import shlex
import signal
import subprocess
import sys
import time
from argparse import BooleanOptionalAction
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import scipy

from ._races import SPARE_S, Ran, arena, kept, options, stolen, table, write

STACKS = ("gunicorn", "uwsgi", "apache+mod_wsgi")
CONNECTIONS = 100
BUDGET_S = 60.0
HELD, ANSWERED = 0.9, 0.8

QUIET = "quiet"
GUARD_S = 1800
"""A neighbour ends after so long, whatever becomes of the experiment."""

Row = Mapping[str, Any]
Truth = Mapping[tuple[str, str], tuple[float, float, float]]
"""ln(throughput of the first over that of the second) on a quiet machine, and its 95 % limits."""

_LOOP = "while True: pass"
_BURST = """import time
while True:
    end = time.monotonic() + 0.5
    while time.monotonic() < end: pass
    time.sleep(1.5)
"""

_FILES, _FUNCTIONS = 8, 300
_MAKEFILE = f"""all: {" ".join(f"part{number}.o" for number in range(_FILES))}
%.o: %.c
\t$(CC) -O2 -c -o $@ $<
"""
_FUNCTION = """int turn{0}(const int *seen, int many) {{
    int sum = {0};
    for (int at = 0; at < many; at++) sum = sum * 31 + (seen[at] ^ (sum >> {1})) % (at + {1});
    return sum;
}}
"""


def _sources(folder: Path) -> None:
    (folder / "Makefile").write_text(_MAKEFILE, encoding="ascii")
    part = "".join(_FUNCTION.format(number, 1 + number % 13) for number in range(_FUNCTIONS))
    for number in range(_FILES):
        (folder / f"part{number}.c").write_text(part, encoding="ascii")


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """Processes that know nothing of the race: a command of the shell, in a folder that ``prepared`` fills."""

    command: str
    prepared: Callable[[Path], None] = lambda folder: None


def _programs(code: str, many: int) -> Neighbour:
    each = f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} & "
    return Neighbour(command=f"{each * many}wait")


NEIGHBOURS = {
    QUIET: Neighbour(command="while sleep 60; do :; done"),
    "one loop": _programs(_LOOP, 1),
    "two loops": _programs(_LOOP, 2),
    "build": Neighbour(command="while make --silent --always-make -j2; do :; done", prepared=_sources),
    "bursts": _programs(_BURST, 2),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of race. ``priority`` None leaves it to the race, which is how the quiet ones are run."""

    neighbour: str
    priority: bool | None = None

    def __str__(self) -> str:
        words = {None: "", True: ", with priority", False: ", without priority"}
        return f"{self.neighbour}{words[self.priority]}"

    @property
    def flags(self) -> tuple[str, ...]:
        """What the race is told of it."""
        return ("--no-priority",) if self.priority is False else ()


CASES = (
    Case(QUIET),
    *(Case(name, priority) for name in NEIGHBOURS if name != QUIET for priority in (True, False)),
)


@contextmanager
def beside(neighbour: Neighbour, folder: Path) -> Iterator[Callable[[], bool]]:
    """Run a neighbour in ``folder``; what is given tells whether it still runs.

    All of it is one session, as if it were started in a terminal: Linux may weigh sessions against each other.
    """
    folder.mkdir(exist_ok=True)
    neighbour.prepared(folder)
    process = subprocess.Popen(
        ["timeout", str(GUARD_S), "sh", "-c", neighbour.command], cwd=folder, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield lambda: process.poll() is None
    finally:
        # unreaped, so the number is still that of its group
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def described(case: Case, ran: Ran, seconds: float) -> dict[str, Any]:
    """Return what came of a race: how it ended, what it named, and each row's tier, ratio and limits."""
    row = {"neighbour": case.neighbour, "priority": case.priority, "exit": ran.code, "seconds": seconds}
    if ran.code != 0 or ran.document is None:
        last = ran.message.strip().splitlines()[-1:]
        return {**row, "came": "refused" if ran.code == 3 else "failed", "message": "".join(last)}
    answer = ran.document["answer"]
    return {
        **row,
        "came": "answered" if ran.document["settled"] else "open",
        "kind": answer["kind"],
        "stacks": answer["stacks"],
        "within": answer["within"] if answer["within"] is not None else ran.document["race"]["difference"],
        "answer": ran.document["words"]["answer"],
        "warnings": ran.document["warnings"],
        "rows": {
            one["stack"]: [one["tier"], one["ratio"]["value"], one["ratio"]["low"], one["ratio"]["high"]]
            for one in ran.document["standing"]
        },
    }


def due(rows: Sequence[Row], cases: Sequence[Case], races: int) -> list[Case]:
    """Return what is still to race until there are ``races`` of each case, the cases in turns."""
    done = Counter(Case(row["neighbour"], row["priority"]) for row in rows)
    return [case for number in range(races) for case in cases if done[case] <= number]


def truth_of(rows: Sequence[Row]) -> Truth:
    """Return what the quiet races say of each pair; of pairs that fewer than two of them measured, nothing."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["neighbour"] == QUIET and row.get("rows"):
            for one, other in permutations(row["rows"], 2):
                found.setdefault((one, other), []).append(math.log(row["rows"][one][1] / row["rows"][other][1]))
    truth = {}
    for pair, logs in found.items():
        if len(logs) > 1:
            half = float(scipy.stats.t.ppf(0.975, len(logs) - 1)) * stdev(logs) / math.sqrt(len(logs))
            truth[pair] = (fmean(logs), fmean(logs) - half, fmean(logs) + half)
    return truth


def false_statements(row: Row, truth: Truth) -> list[str]:
    """Return what a race states against the truth."""
    tiers = {stack: of[0] for stack, of in row.get("rows", {}).items()}
    wrong = []
    for (one, other), (_, low, high) in truth.items():
        if one not in tiers or other not in tiers:
            continue
        if high < 0 and tiers[one] < tiers[other]:
            wrong.append(f"{one} is in an earlier tier than {other}")
        named = row["stacks"]
        if row["kind"] == "best" and named[0] == one and high < 0:
            wrong.append(f"{one} is the best, not {other}")
        if row["kind"] == "good choice" and named[0] == one and high < -math.log1p(row["within"]):
            wrong.append(f"{one} is a good choice beside {other}")
        if row["kind"] == "alike" and one in named and other in named and low > math.log1p(row["within"]):
            wrong.append(f"{one} and {other} are alike")
    return wrong


def rows_held(row: Row, truth: Truth) -> list[bool]:
    """Tell of each row with limits whether they hold the quiet ratio to the leader, the row whose ratio is 1."""
    rows = row.get("rows", {})
    leader = max(rows, key=lambda stack: rows[stack][2:] == [1.0, 1.0], default="")
    return [
        math.log(low) <= truth[stack, leader][0] <= math.log(high)
        for stack, (_, _, low, high) in rows.items()
        if (stack, leader) in truth and low and high
    ]


def judged(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a line for each case that was raced: what came of it, and whether it meets its goals."""
    truth = truth_of(rows)
    lines = []
    for case in CASES:
        own = [row for row in rows if (row["neighbour"], row["priority"]) == (case.neighbour, case.priority)]
        if not own:
            continue
        came = Counter(row["came"] for row in own)
        false = sum(bool(false_statements(row, truth)) for row in own)
        held = [one for row in own for one in rows_held(row, truth)]
        good = (
            bool(truth)
            and not false
            and not came["failed"]
            and sum(held) >= HELD * len(held)
            and (case.priority is False or came["answered"] >= ANSWERED * len(own))
        )
        lines.append(
            {
                "races": str(case),
                **{name: came[name] for name in ("answered", "open", "refused", "failed")},
                "false": false if truth else None,
                "rows held": f"{sum(held)} of {len(held)}",
                "median s": median([row["seconds"] for row in own]),
                "goals": ("reached" if good else "MISSED") if truth else None,
            }
        )
    return lines


def main() -> None:
    """Race beside each neighbour in turns, and print what all races so far say."""
    parser = options("neighbours", __doc__ or "", races=10, seconds=BUDGET_S)
    parser.add_argument("--only", choices=NEIGHBOURS, action="append", help="this neighbour, again for more")
    parser.add_argument(
        "--priority", action=BooleanOptionalAction, help="only with, or only without the priority; both by default"
    )
    given = parser.parse_args()
    seen = kept(given)
    cases = [
        case
        for case in CASES
        if case.neighbour in (given.only or NEIGHBOURS)
        and (given.priority is None or case.priority in (None, given.priority))
    ]
    if any(case.priority for case in cases) and os.geteuid() != 0:
        raise SystemExit("only root is sure to get the priority: give --no-priority, or run as root")
    todo = due(seen.rows, cases, given.races)
    until = math.inf if given.minutes is None else time.monotonic() + 60 * given.minutes
    minutes = len(todo) * (given.budget + 6) / 60
    print(f"{len(todo)} races of {given.budget:g} s: up to {minutes:.0f} min", flush=True)
    with arena() as place:
        if not given.anew:
            place.store = f"sqlite:///{given.keep.absolute().with_suffix('.sqlite3')}"
        for number, case in enumerate(todo, 1):
            if time.monotonic() >= until:
                print(f"time is over after {number - 1} of {len(todo)} races")
                break
            seen.add(_raced(place.run, case, given.budget, place.folder / "neighbour"))
            last = seen.rows[-1]
            print(f"{number} of {len(todo)}, {case}, {last['seconds']:.0f} s: {last['came']}:"
                  f" {last.get('answer') or last.get('message')}", flush=True)  # fmt: skip
            for wrong in false_statements(last, truth_of(seen.rows)):
                print(f"  FALSE: {wrong}", flush=True)
            write(given.json, {"cases": judged(seen.rows), "races": seen.rows})
    lines = judged(seen.rows)
    table("beside neighbours", lines)
    table("quiet ratios", [
        {"pair": f"{one} : {other}", "ratio": math.exp(middle), "low": math.exp(low), "high": math.exp(high)}
        for (one, other), (middle, low, high) in truth_of(seen.rows).items() if middle <= 0
    ])  # fmt: skip


def _raced(run: Callable[[Sequence[str], float], Ran], case: Case, budget_s: float, folder: Path) -> dict[str, Any]:
    stacks = [word for stack in STACKS for word in ("--stack", stack)]
    told = ["--bundled", *stacks, "-c", str(CONNECTIONS), "--budget", f"{budget_s:g}s", *case.flags]
    with beside(NEIGHBOURS[case.neighbour], folder) as running, stolen() as share:
        begin = time.monotonic()
        ran = run(told, budget_s + SPARE_S)
        row = {"stolen": share(), **described(case, ran, time.monotonic() - begin)}
        if not running():
            raise SystemExit(f"the neighbour ({case.neighbour}) ended before its race: is gcc there, and make?")
    return row


if __name__ == "__main__":
    main()
