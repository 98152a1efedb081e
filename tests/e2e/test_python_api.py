"""docs/python-api.md: its example runs as it stands, and its table leaves nothing out."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.http_servers import APP

import stackrace
from stackrace.store import open_store

PAGE = (Path(__file__).parents[2] / "docs" / "python-api.md").read_text(encoding="utf-8")


def example(language):
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)
    return text


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "tiny.py").write_text(APP)
    (folder / "race.toml").write_text(example("toml").replace("[app]\n", f'[app]\npython = "{sys.executable}"\n'))
    (folder / "example.py").write_text(example("python"))
    ran = subprocess.run([sys.executable, "example.py"], cwd=folder, capture_output=True, text=True, timeout=1800)
    assert ran.returncode == 0, ran.stderr
    return folder, ran


@pytest.mark.exhaustive
def test_the_example_races_and_keeps_and_reports(done):
    folder, _ = done
    assert (folder / "races.sqlite3").is_file()
    assert (folder / "race.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with open_store(f"sqlite:///{folder}/races.sqlite3") as store:
        race = store.load(store.latest())
    assert {launch.stack for launch in race.launches} >= {"waitress", "gunicorn:class=gthread"}
    assert race.seed == 7


@pytest.mark.exhaustive
def test_nothing_but_the_example_prints(done):
    """One line for each stack, as far as this machine lets it be measured, and the answer."""
    _, ran = done
    assert ran.stderr == ""
    *rows, answer = [line for line in ran.stdout.splitlines() if not line.startswith("Preparing(")]
    assert all(re.fullmatch(r"(waitress|gunicorn:class=gthread) [0-9.]+ requests/s", row) for row in rows)
    assert re.fullmatch(r"\w{13} [a-z ]+ \(.*\)", answer)


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
