"""docs/python-api.md: its example runs as it stands, and its table leaves nothing out."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import stackrace

PAGE = (Path(__file__).parents[2] / "docs" / "python-api.md").read_text(encoding="utf-8")
APP = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""


def example(language):
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)
    return text


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "tiny.py").write_text(APP)
    (folder / "race.toml").write_text(example("toml").replace("[app]\n", f'[app]\npython = "{sys.executable}"\n'))
    (folder / "example.py").write_text(example("python"))
    ran = subprocess.run([sys.executable, "example.py"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return folder, ran


def test_the_example_races_and_keeps_and_reports(done):
    folder, ran = done
    assert (folder / "races.sqlite3").is_file()
    assert (folder / "race.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    for stack in ("waitress", "gunicorn:class=gthread"):
        assert re.search(rf"^{stack} [0-9.]+ requests/s$", ran.stdout, re.M)


def test_nothing_but_the_example_prints(done):
    _, ran = done
    assert ran.stderr == ""
    ours = [line for line in ran.stdout.splitlines() if not line.startswith("Preparing(")]
    assert len(ours) == 3


def test_every_public_name_is_in_the_table_and_is_there():
    documented = set(re.findall(r"`(\w+)", "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))))
    for name in set(stackrace.__all__) - {"__version__"}:
        assert name in documented, name
        assert getattr(stackrace, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'stackrace' has no attribute 'walk'"):
        stackrace.walk  # noqa: B018


def test_the_page_is_short():
    assert len(PAGE.split()) <= 300
