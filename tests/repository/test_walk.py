"""The table of docs/architecture.md is what a race does: a real one is traced and compared with it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| `([\w.]+)` in `([\w/]+\.py)` \| (\d*) ?\|", re.MULTILINE)
MOST = 15
CORE = {"cli", "api", "report", "race", "deploy", "validity", "app", "stats"}


def rows():
    """The rows of the table: number, function as ``file:name``, and the number of the one that calls it."""
    return [(int(number), f"{file}:{name}", int(by or 0)) for number, name, file, by in ROW.findall(TEXT)]


def test_the_table_is_short_and_has_a_row_for_each_room_that_the_line_crosses():
    functions = [function for _, function, _ in rows()]
    assert [number for number, _, _ in rows()] == list(range(1, len(functions) + 1))
    assert len(functions) <= MOST
    assert {function.partition("/")[0] for function in functions} == CORE


def test_a_race_calls_them_in_this_order_and_from_each_other(tmp_path):
    functions = [function for _, function, _ in rows()]
    asked = ("run", "--bundled", "--stack", "waitress", "--stack", "cheroot", "-c", "2", "--budget", "5min")
    how = (ROOT / "tests/traced.py", tmp_path / "calls", ",".join(functions))
    done = subprocess.run(
        [sys.executable, *how, *asked, "--store", tmp_path / "store"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    calls = json.loads((tmp_path / "calls").read_text(encoding="utf-8"))
    assert list(calls) == functions
    wrong = [number for number, name, by in rows() if (functions[by - 1] if by else "") not in calls[name]]
    assert not wrong, {functions[number - 1]: sorted(set(calls[functions[number - 1]])) for number in wrong}
