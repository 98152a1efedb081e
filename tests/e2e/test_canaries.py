"""A secret that is planted in every place where text comes in is in no place where text goes out."""

import json
import subprocess
import time

import pytest
from tests.conftest import BRIEF
from tests.e2e.canaries import World, seen, token
from tests.raced import ended_launches

from stackrace.features.publish.exchange import published
from stackrace.store import open_store

SHORT = '[load]\nconcurrency = [1]\n[race]\ncurrent = false\nstacks = ["gunicorn", "waitress", "cheroot"]\n'
RUNS = ("--requests", "5", "--repeats", "1")


@pytest.fixture
def world(tmp_path, monkeypatch):
    world = World(tmp_path)
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    return world


def shows_nothing(done, world):
    """Assert that neither the screen nor anything that is left gives a secret away; returns what was said."""
    assert (seen(done.stdout), seen(done.stderr), world.told()) == (set(), set(), {}), done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_page_with_a_secret_in_its_path_is_not_written_into_a_race_file_and_that_is_said(stackrace, world):
    app = ("--wsgi", "app:app", "--project", world.root, "--env-file", world.root / "vars.env")
    said = shows_nothing(stackrace("init", *app, "--output", world.outside / "made.toml", cwd=world.outside), world)
    assert "/about" in (world.outside / "made.toml").read_text()
    assert "Not raced: 3 pages, such as /s?token=***: its path holds a secret" in said
    survey = json.loads(stackrace("init", *app, "--json", cwd=world.outside).stdout)
    assert survey["urls"] == ["/", "/about"]
    assert {page["path"] for page in survey["pages"]} >= {"/p?q=***", "/r?password=***", "/s?token=***"}
    named = stackrace("init", *app, "--url", f"/about?k={token('path')}", "--stdout", cwd=world.outside)
    assert named.returncode == 2
    assert 'would hold a secret in "/about?k=***"' in shows_nothing(named, world)


def test_no_verb_and_no_file_gives_one_away(brief, stackrace, world):
    chosen = shows_nothing(brief("run", world.race_file(SHORT), *RUNS, cwd=world.outside), world)
    assert "Not raced, as a secret is in the path: /s?token=***, /go, /p?q=***;" in chosen

    named = f'urls = ["/about?k={token("path")}", "/about"]'
    said = shows_nothing(brief("run", world.race_file(SHORT, named), *RUNS, cwd=world.outside), world)
    assert "Raced: shop (app:app), /about?k=*** and /about" in said
    page = world.outside / "report.html"
    for flags in ((), ("--details",), ("--json",), ("--markdown",), ("--csv",), ("--html", page)):
        shows_nothing(stackrace("report", *flags, cwd=world.outside), world)
    with open_store() as store:
        race = store.load(store.latest())
    assert race.urls == ("/about?k=***", "/about")
    sent = published(race)
    assert not seen(json.dumps(sent.body)) and not seen(json.dumps(sent.document))
    shows_nothing(stackrace("trend", "shop", "--json", cwd=world.outside), world)


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["text", "json"])
def test_what_is_run_today_is_shown_without_them(stackrace, world, words):
    shown = stackrace("current", "--project", world.root, *words, cwd=world.outside)
    assert shown.returncode == 0, shown.stderr
    assert "gunicorn" in shows_nothing(shown, world)


def test_exported_files_have_the_names_of_variables_in_place_of_secrets(stackrace, world):
    file = world.race_file(SHORT, f'urls = ["/about?k={token("path")}"]')
    exported = stackrace("export", file, "cheroot", "--to", world.outside / "deploy", cwd=world.outside)
    assert exported.returncode == 0, exported.stderr
    shows_nothing(exported, world)
    assert "API_TOKEN=\n" in (world.outside / "deploy" / ".env.example").read_text()
    assert "/about?k=API_TOKEN" in (world.outside / "deploy" / "Dockerfile").read_text()


@pytest.mark.exhaustive
def test_a_killed_race_goes_on_with_its_secrets_and_shows_none(brief, stackrace, world):
    file = world.race_file(SHORT, f'urls = ["/about?k={token("path")}", "/about"]')
    process = subprocess.Popen(
        [*BRIEF, "run", file, "--requests", "20", "--repeats", "2"],
        cwd=world.outside, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while process.poll() is None:
        if any(ended > 1 for ended in ended_launches().values()):
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert world.told() == {}
    resumed = brief("run", "--resume", cwd=world.outside)
    assert resumed.returncode == 0, resumed.stderr
    assert "where the app has 'the shop'" in shows_nothing(resumed, world)
    shows_nothing(stackrace("history", "--json", cwd=world.outside), world)
    shows_nothing(stackrace("report", "--details", cwd=world.outside), world)


@pytest.mark.exhaustive
def test_no_form_of_a_checks_answer_gives_one_away(brief, world):
    names = ("junit", "markdown", "openmetrics", "html")
    flags = [word for name in names for word in (f"--{name}", world.outside / f"answer.{name}")]
    file = world.race_file(SHORT, f'urls = ["/about?k={token("path")}", "/about"]')
    stacks = ("--stack", "cheroot", "--head-stack", "waitress")
    done = brief("check", file, *stacks, "--json", *flags, cwd=world.outside)
    assert done.returncode == 3, done.stderr
    shows_nothing(done, world)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("tune", ("--vary", "threads=2,4", "-c", "1", "--budget", "60min")),
        ("capacity", ("--p50", "1us", "--no-ceiling")),
        ("load", ("--requests", "5")),
    ],
)
def test_what_is_tuned_searched_or_loaded_is_shown_without_them(brief, stackrace, world, verb, words, form):
    file = world.race_file(SHORT, f'urls = ["/about?k={token("path")}"]')
    what = ("cheroot", "--race-file", file) if verb == "tune" else (file, "--stack", "cheroot")
    done = brief(verb, *what, *words, *form, cwd=world.outside)
    assert done.returncode in (0, 1, 3), done.stderr
    shows_nothing(done, world)
    if verb == "tune":
        shows_nothing(stackrace("report", "--details", *form, cwd=world.outside), world)


@pytest.mark.parametrize("recording", ["har", pytest.param("log", marks=pytest.mark.exhaustive)])
def test_a_recordings_secrets_are_sent_and_not_shown(brief, world, recording):
    path = world.har() if recording == "har" else world.log()
    race_file = world.race_file(SHORT)
    done = brief("run", race_file, "--session", path, *RUNS, "--json", cwd=world.outside)
    assert done.returncode == 0, done.stderr
    shows_nothing(done, world)


def test_what_a_command_line_holds_is_in_no_error(stackrace, world):
    store, couch = f"postgresql://ann:{token('store')}@127.0.0.1:1/x", f"http://ann:{token('couch')}@127.0.0.1:1/x"
    stack = ("--stack", f"uwsgi:env=API_TOKEN={token('path')}", "--wsgi", "app:app", "--project", world.root)
    target = f"http://127.0.0.1:1/?api_key={token('target')}"
    for words in (
        ("report", "--store", store),
        ("publish", "--to", couch),
        ("load", target, "--header", f"Authorization: Bearer {token('bearer')}"),
        ("run", *stack),
        ("up", *stack),
        ("run", world.race_file('[race]\nbuget = "1s"\n')),
    ):
        done = stackrace(*words, cwd=world.outside, STACKRACE_TRACEBACK="1")
        assert done.returncode in (2, 3), words
        shows_nothing(done, world)
