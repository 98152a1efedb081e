"""Secrets of an app appear nowhere: neither in what any verb says, nor in what is kept, reported or published."""

import json
import os
import stat
from pathlib import Path

import pytest

from stackrace.cli.main import main
from stackrace.deploy.environments import cache_folder
from stackrace.features.publish.exchange import published
from stackrace.store import open_store

FROM_FILE, FROM_RACE_FILE, FROM_SHELL, FROM_DOTENV = "s%2F-q471101z-s", "sq471102zs", "s\"'q471103z-s", "sq471104zs"
SECRETS = ("q471101z", "q471102z", "q471103z", "q471104z")
"""Their middles, with letters: a package of the cache may have the figures by chance."""

SHOP = """
import os, pathlib, sys

# as python-dotenv does
os.environ["MAIL_PASSWORD"] = pathlib.Path(__file__).with_name(".env").read_text().strip().partition("=")[2]
URL = os.environ["DATABASE_URL"]
ALL = [URL, URL.split(":")[2].split("@")[0].replace("%2F", "/"),
       *(os.environ[name] for name in ("API_TOKEN", "SHELL_SECRET", "MAIL_PASSWORD"))]
WORDS = f"{ALL} and {' '.join(ALL)}"

def failing(environ, start_response):
    raise RuntimeError(WORDS)

def unlike(environ, start_response):
    if "gunicorn" in sys.modules:
        print(WORDS, flush=True)
        body = WORDS
    else:
        body = "the shop"
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body.encode()]

if "waitress" in sys.modules:
    raise RuntimeError(WORDS)
"""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """An app that tells its secrets wherever it can, as far as it gets to each."""
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "broken.py").write_text("from shop import WORDS\nraise RuntimeError(WORDS)\n")
    (tmp_path / "vars.env").write_text(f"DATABASE_URL=postgresql://ana:{FROM_FILE}@127.0.0.1:1/shop\n")
    (tmp_path / ".env").write_text(f"MAIL_PASSWORD={FROM_DOTENV}\n")
    monkeypatch.setenv("SHELL_SECRET", FROM_SHELL)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def race_file(entry, more=""):
        path = tmp_path / "race.toml"
        path.write_text(
            f'[app]\nwsgi = "{entry}"\nenv_file = ["vars.env"]\nenv = {{ API_TOKEN = "{FROM_RACE_FILE}" }}\n{more}'
        )
        return path

    return race_file


def assert_unknown(*texts):
    for text in texts:
        assert not [secret for secret in SECRETS if secret in text], text


def kept():
    """Yield every file below the folders of results and of the cache."""
    for top in (Path(os.environ["XDG_DATA_HOME"]), cache_folder()):
        yield from (path for path in top.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("verb", "entry", "more"),
    [
        ("run", "broken:app", ""),
        pytest.param("init", "shop:failing", "", marks=pytest.mark.exhaustive),
        pytest.param("tune", "shop:failing", "", marks=pytest.mark.exhaustive),
        (
            "up",
            "shop:unlike",
            "prepare = [{ run = \"python -c 'import shop; print(shop.WORDS); 1/0'\", shell = true }]",
        ),
        pytest.param("up", "shop:unlike", "", marks=pytest.mark.exhaustive),
    ],
)
def test_no_error_tells_them(stackrace, shop, tmp_path, verb, entry, more):
    path = shop(entry, more)
    words = {
        "init": ["--wsgi", entry, "--env-file", "vars.env"],
        "up": [path, "--stack", "waitress"],
        "run": [path],
        "tune": ["cheroot", "--wsgi", entry, "--env-file", "vars.env"],
    }
    if verb == "init":
        path.unlink()
    # with its traceback an error says all that it can
    done = stackrace(verb, *words[verb], cwd=tmp_path, STACKRACE_TRACEBACK="1", API_TOKEN=FROM_RACE_FILE)
    shown = done.stdout + done.stderr + (path.read_text() if verb == "init" else "")
    assert "***" in shown, shown
    assert_unknown(shown)


@pytest.fixture
def reported(monkeypatch, capsys):
    """Return a function that shows the last race again, in this process: starting up is most of what it costs."""

    def report(*flags):
        monkeypatch.setattr("sys.argv", ["stackrace", "report", *flags])
        with pytest.raises(SystemExit) as left:
            main()
        assert not left.value.code
        return capsys.readouterr().out

    return report


def test_no_report_and_nothing_that_is_kept_tells_them(brief, reported, shop, tmp_path):
    path = shop("shop:unlike", '[load]\nconcurrency = [1]\n[race]\nstacks = ["gunicorn", "waitress", "cheroot"]\n')
    done = brief("run", path, "--requests", "5", "--repeats", "1", cwd=tmp_path)
    html = tmp_path / "report.html"
    formats = ((), ("--details",), ("--json",), ("--html", str(html)), ("--markdown",), ("--csv",))
    reports = [reported(*flags) for flags in formats]
    assert_unknown(done.stdout, done.stderr, html.read_text(), *reports)
    assert "***" in html.read_text() and "***" in reports[1]
    failures = {row["stack"]: row["failure"] for row in json.loads(reports[2])["withdrawals"]}
    assert "RuntimeError" in json.dumps(failures["waitress"]) and "where the app has" in json.dumps(
        failures["gunicorn"]
    )

    with open_store() as store:
        race = store.load(store.find(""))
    sent = published(race)
    assert_unknown(json.dumps(sent.body), json.dumps(sent.document))
    for file in kept():
        assert_unknown(file.read_bytes().decode("latin-1"))


@pytest.mark.exhaustive
def test_no_form_of_a_checks_answer_tells_them(brief, shop, tmp_path):
    path = shop("shop:unlike", "[load]\nconcurrency = [1]\n")
    files = {name: tmp_path / f"answer.{name}" for name in ("junit", "markdown", "openmetrics", "html")}
    flags = [word for name, file in files.items() for word in (f"--{name}", file)]
    done = brief("check", path, "--stack", "cheroot", "--head-stack", "waitress", "--json", *flags, cwd=tmp_path)
    assert_unknown(done.stdout, done.stderr, *(file.read_text() for file in files.values()))
    assert "launches failed" in files["junit"].read_text(), done.stderr
    with open_store() as store:
        launches = str(store.load(store.find("")).launches)
    assert "RuntimeError: " in launches and "***" in launches
    for file in kept():
        assert_unknown(file.read_bytes().decode("latin-1"))


@pytest.mark.exhaustive
def test_no_error_tells_them_and_cache_and_results_are_closed_to_others(stackrace, shop, tmp_path):
    ours = [Path(os.environ["XDG_DATA_HOME"], "stackrace"), cache_folder(), cache_folder() / "pycache"]
    for folder in ours:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
    done = stackrace("run", shop("shop:failing"), cwd=tmp_path, STACKRACE_TRACEBACK="1")
    assert done.returncode == 2
    assert "***" in done.stderr
    assert_unknown(done.stdout, done.stderr)
    assert [oct(stat.S_IMODE(folder.stat().st_mode)) for folder in ours] == ["0o700"] * len(ours)


@pytest.mark.exhaustive
def test_a_tuning_whose_every_launch_fails_tells_none(brief, reported, shop, tmp_path):
    shop("shop:unlike").unlink()
    words = ("gunicorn", "--vary", "class", "--wsgi", "shop:unlike", "--env-file", "vars.env", "-c", "1")
    done = brief("tune", *words, "--budget", "5min", "--json", cwd=tmp_path, API_TOKEN=FROM_RACE_FILE)
    assert "***" in done.stdout + done.stderr
    assert_unknown(done.stdout, done.stderr, *(reported(*flags) for flags in ((), ("--json",), ("--markdown",))))
    for file in kept():
        assert_unknown(file.read_bytes().decode("latin-1"))
