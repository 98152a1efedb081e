"""A chain of tracebacks is cut to what its author can mend; nothing else is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stackrace.base.errors import AppError
from stackrace.cli.main import _show
from stackrace.cli.stdio import TRACEBACK
from stackrace.cli.tracebacks import cut_tracebacks

APP = """
import json
from importlib import import_module

def load(depth):
    try:
        json.loads("{")
    except ValueError as error:
        if depth:
            load(depth - 1)
        raise LookupError(f"level {depth}") from error

def start():
    try:
        import_module("shop").load(9)
    except LookupError:
        import_module("nowhere")

if __name__ == "__main__":
    import shop
    shop.start()
"""


@pytest.fixture(scope="module")
def chained(tmp_path_factory):
    """What an app prints that fails again and again, with frames of Python's own files between its own."""
    folder = tmp_path_factory.mktemp("app")
    (folder / "shop.py").write_text(APP)
    done = subprocess.run([sys.executable, "shop.py"], cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr


def test_a_chain_is_cut_to_its_last_exception_with_the_apps_frames(chained):
    assert len(chained.splitlines()) > 100
    short = cut_tracebacks(f"Applying shop.0001... \n{chained}").splitlines()
    assert short[:2] == ["Applying shop.0001... ", "Traceback (most recent call last):"]
    frames = [line for line in short if line.startswith("  File ")]
    *own, last = frames
    assert [frame.partition(" in ")[2] for frame in own] == ["<module>", "start"]
    assert all("shop.py" in frame for frame in own) and "importlib" in last
    exception, note = short[-2:]
    assert exception.startswith("ModuleNotFoundError: ")
    assert note.endswith(f"lines are left out; to see all: export {TRACEBACK}=1)")
    assert not any("LookupError" in line for line in short)


def test_separate_tracebacks_stay_separate(chained):
    begin = "Traceback (most recent call last):\n"
    another = f'{begin}  File "/srv/shop/other.py", line 1, in f\n    f()\nKeyError: 1\n'
    short = cut_tracebacks(another + chained)
    assert short.startswith(another) and short.count(begin) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        'Traceback (most recent call last):\n  File "/usr/lib/python3.11/x.py", line 1, in f\n    f()\nKeyError\n',
        "\n".join(f"  Using cached package {number}" for number in range(100)),
    ],
)
def test_what_is_short_or_no_traceback_stays(text):
    assert cut_tracebacks(text) == text


def test_errors_are_printed_so_and_keep_the_whole(chained, capsys):
    error = AppError("shop:app: importing failed", detail=chained)
    _show(error)
    said = capsys.readouterr().err
    assert "LookupError" not in said and said.endswith("error: shop:app: importing failed\n")
    assert "LookupError: level 0" in error.detail
