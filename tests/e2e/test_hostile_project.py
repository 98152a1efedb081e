"""A stranger's project, unpacked and looked at: no program that its settings name runs before it is asked for."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from tests.conftest import BRIEF, STACKRACE, calling
from tests.factories import make_race
from tests.git_keys import CHOICES, COMMANDS, NO_PROGRAM, SHELLED
from tests.hostile import HOOKS, PAGE, HostileProject, give_away, trap_of

from stackrace.app.app import Entry, EntryKind
from stackrace.app.revision import Source, project_of, source_of
from stackrace.base.errors import MissingError
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments
from stackrace.features.cluster.project import project_of as tracked_by
from stackrace.race.request.request import RaceRequest
from stackrace.store import open_store


@pytest.fixture
def hostile(tmp_path):
    return HostileProject(tmp_path)


@pytest.fixture
def store(hostile, tmp_path):
    """The address of a store with a race of the project."""
    url = f"sqlite:///{tmp_path / 'races.sqlite3'}"
    race = replace(make_race(2, blocks=2), source=Source(project=project_of(hostile.folder)))
    with open_store(url) as results:
        results.begin(race)
    return url


@pytest.fixture
def site():
    """The address of a server that has nothing to do with the project."""

    class Hello(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *words):
            pass

    with HTTPServer(("127.0.0.1", 0), Hello) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_the_traps_are_armed(hostile):
    """Git as anybody types it steps into those that the other tests watch."""
    filtered = ("hash-object --path=a.txt app.py", "hash-object --path=a.odd app.py")
    for words in ("status", "log -1", "diff HEAD -- module", "diff -- app.py", "fetch", *filtered):
        subprocess.run(["git", *words.split()], cwd=hostile.folder, capture_output=True, timeout=1800)
    assert {"git-core.fsmonitor", "git-filter.one.clean", "git-filter.many.process", "git-filter.a-b.clean",
            "git-gpg.openpgp.program", "git-diff.external", "git-ext"} <= set(hostile.ran)  # fmt: skip


def test_verbs_that_read_run_nothing_of_it(hostile, store, stackrace):
    kept = ("--store", store)
    for words in (
        ("--version",), ("--help",), ("stacks",), ("doctor", "--watch", "100ms"), ("completion", "bash"),
        ("install", "gunicorn", "--dry-run"), ("trend", ".", *kept), ("report", *kept), ("history", *kept),
        ("name", make_race(2, blocks=2).id, "kept-for-the-test", *kept),
    ):  # fmt: skip
        done = stackrace(*words, cwd=hostile.folder)
        assert done.returncode in ((0, 1) if words[0] == "doctor" else (0,)), done.stderr
        assert hostile.ran == [], words


def test_loading_another_server_and_comparing_runs_nothing_of_it(hostile, site, stackrace, tmp_path):
    done = stackrace("load", site, "-n", "2", "-c", "1", "--json", cwd=hostile.folder)
    assert done.returncode == 0, done.stderr
    (tmp_path / "loaded.json").write_text(done.stdout)
    done = stackrace("compare", *[tmp_path / "loaded.json"] * 2, cwd=hostile.folder)
    assert "%" in done.stdout, done.stderr
    assert hostile.ran == []


@pytest.mark.exhaustive
def test_racing_the_bundled_app_runs_nothing_of_it(hostile, brief, tmp_path):
    fresh = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = "run --bundled --stack waitress -c 1 --requests 20 --repeats 1 --json"
    done = brief(*words.split(), cwd=hostile.folder, **fresh)
    assert done.returncode in (0, 3), done.stderr
    assert hostile.ran == []


def kept_race(brief, project, tmp_path):
    """Race the project's page as its owner would; returns the race as it is kept."""
    # packages come from where a project says that is raced, and here nobody answers
    (project.folder / "uv.toml").unlink()
    (tmp_path / "home").mkdir()
    url = f"sqlite:///{tmp_path / 'kept.sqlite3'}"
    words = f"run --wsgi app:app --url / --stack waitress -c 1 --requests 20 --repeats 1 --store {url}".split()
    home = {"HOME": str(tmp_path / "home")}
    done = brief(*words, "--python", sys.executable, cwd=project.folder, **home)
    assert done.returncode in (0, 3), done.stderr
    with open_store(url) as results:
        return results.load(results.list(1)[0].id)


def test_a_race_knows_its_commit_and_ran_no_program_of_gits_settings(hostile, brief, tmp_path):
    source = kept_race(brief, hostile, tmp_path).source
    assert (source.commit, source.changed) == (hostile.git(hostile.folder, "rev-parse", "HEAD"), True)
    assert hostile.of_git == []


@pytest.mark.exhaustive
def test_a_survey_of_the_app_and_a_check_run_no_program_of_gits_settings(hostile, store, stackrace):
    done = stackrace("init", "--stdout", "--wsgi", "app:app", "--python", sys.executable, cwd=hostile.folder)
    assert done.returncode == 0, done.stderr
    assert hostile.of_git == []
    done = stackrace("check", "--wsgi", "app:app", "--base", "HEAD", "--store", store, cwd=hostile.folder)
    assert done.returncode == 2
    assert re.search(r"a program that its own settings name, a\.\w+: filter\.\w+\.smudge = ", done.stderr)
    assert "git config --global filter.one.smudge " in done.stderr
    assert hostile.of_git == []


@pytest.mark.parametrize("lacking", ["files", "history"])
def test_what_a_partial_clone_lacks_is_not_fetched_to_know_it(lacking, hostile):
    """The commit is all that a race and `trend` ask git for."""
    if lacking == "files":
        hostile.forget_a_tree()
    else:
        (hostile.folder / ".git/refs/heads/main").write_text("1" * 40 + "\n")
    assert bool(source_of(hostile.folder).commit) == (lacking == "files")
    assert hostile.of_git == []


@pytest.fixture
def foreign(hostile, store):
    """The same project, of another user."""
    give_away(hostile.folder)
    return hostile


def test_gits_refusal_of_another_users_repository_is_shown_with_its_way_out(foreign, store, stackrace, tmp_path):
    home = {"HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir()
    for verb in ("trend", "check --wsgi app:app"):
        done = stackrace(*verb.split(), "--store", store, cwd=foreign.folder, **home)
        assert done.returncode == 2
        way_out = re.search(r"git config --global --add safe.directory \S+", done.stderr)
        assert way_out, done.stderr
    assert foreign.ran == []
    for folder in (foreign.folder, foreign.folder / "module"):
        subprocess.run(way_out[0].replace(str(foreign.folder), str(folder)), shell=True, check=True,
                       env=os.environ | home)  # fmt: skip
    done = stackrace("trend", "--store", store, cwd=foreign.folder, **home)
    assert done.returncode == 0, done.stderr
    assert foreign.ran == []


@pytest.mark.exhaustive
def test_a_race_of_another_users_repository_is_kept_without_its_commit(foreign, brief, tmp_path):
    race = kept_race(brief, foreign, tmp_path)
    assert race.source is None
    assert f"git config --global --add safe.directory {foreign.folder}" in " ".join(race.notes)
    assert foreign.of_git == []


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """A hostile project that every verb has read that looks into repositories: what of its traps ran, by verb."""
    brief, stackrace, ran = calling(*BRIEF), calling(STACKRACE), {}
    for verb in ("run", "refused check", "check", "trend", "init", "cluster", "partial clone"):
        place = tmp_path_factory.mktemp("used")
        project, home = HostileProject(place), place / "home"
        home.mkdir()
        (project.folder / "uv.toml").unlink()
        said = {"HOME": str(home)}
        told = ("--wsgi", "app:app", "--python", sys.executable, "--store", f"sqlite:///{place / 'races.sqlite3'}")
        short = ("--url", "/", "--stack", "waitress", "-c", "1")
        if verb == "run":
            done = brief("run", *told, *short, "--requests", "20", "--repeats", "1", cwd=project.folder, **said)
            assert done.returncode in (0, 3), done.stderr
        elif verb == "trend":
            done = stackrace("trend", *told[-2:], cwd=project.folder, **said)
        elif verb == "init":
            done = stackrace("init", "--stdout", *told[:4], cwd=project.folder, **said)
            assert done.returncode == 0, done.stderr
        elif verb == "cluster":
            entry = Entry(kind=EntryKind.FILES, target=".")
            assert "app.py" in tracked_by(RaceRequest(folder=project.folder, entry=entry)).files
        elif verb == "partial clone":
            project.forget_a_tree()
            assert source_of(project.folder).commit
            done = stackrace("check", *told, "--base", "HEAD", cwd=project.folder, **said)
            assert "fetch --refetch" in done.stderr
        else:
            if verb == "check":
                for driver in ("one", "many", "a=b"):
                    # with = in its name, git itself cannot set it from here
                    with (home / ".gitconfig").open("a") as settings:
                        settings.write(f'[filter "{driver}"]\nsmudge = cat\n')
            done = brief("check", *told, *short, "--base", "HEAD", "--allow", "start any", cwd=project.folder,
                         BLOCKS="1", **said)  # fmt: skip
            assert (done.returncode == 2) == (verb == "refused check"), done.stderr
        ran[verb] = project.of_git
    return ran


@pytest.mark.parametrize("key", [*COMMANDS, *SHELLED, "ext", *(f"hook-{hook}" for hook in HOOKS)])
def test_no_program_of_a_setting_runs_whatever_verb_reads_the_repository(used, key):
    assert {verb for verb, ran in used.items() if trap_of(key) in ran} == set()


def test_nothing_else_of_gits_settings_runs(used):
    assert not any(used.values())


def test_every_key_of_git_that_names_a_program_is_tried():
    listed = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout.split()
    sounds = re.compile(
        "cmd|command|program|editor|pager|hook|helper|driver|textconv|external|vcs|askpass|proxy|[.]tool$|guitool|filter|pack$|"
        "process|smudge|clean|fsmonitor|update$|browser|[.]path$|alias|include|smtpserver|tunnel|template",
        re.IGNORECASE,
    )  # fmt: skip
    tried = [key.lower() for key in (*COMMANDS, *SHELLED, *CHOICES)]

    def is_tried(key):
        form = re.sub(r"<[^>]*>|\*", "(.+)", re.sub(r"[.]", r"\\.", key.lower()))
        return any(re.fullmatch(form, each) for each in tried)

    keys = [key for key in listed if "." in key and sounds.search(key)]
    assert len(keys) > 50
    assert not [key for key in keys if not is_tried(key) and not any(fnmatch(key, form) for form in NO_PROGRAM)]


PIPES = (
    ".npmrc", "Gemfile", "Gemfile.lock", "Dockerfile", "Procfile", "compose.yml", "requirements.txt", ".env",
    "uv.lock", ".python-version", "package.json", "poetry.lock", "Pipfile", "Pipfile.lock", ".ruby-version",
    "setup.py", "gunicorn.conf.py", "nginx.conf", "config.ru", "app.json", "start.sh", "uwsgi.ini", "uv.toml",
    "pyproject.toml",
)  # fmt: skip


def test_files_of_other_tools_that_are_named_pipes_are_waited_for_by_nobody(stackrace, tmp_path):
    (tmp_path / "app.py").write_text(PAGE)
    for name in PIPES:
        os.mkfifo(tmp_path / name)
    done = stackrace("init", "--stdout", "--wsgi", "app:app", "--url", "/", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    environments = Environments(tmp_path / "cache", lambda _: None, tmp_path)
    with pytest.raises(MissingError, match=r"uv cannot read .*uv\.toml: it is a named pipe"):
        environments._uv(["venv", str(tmp_path / "made")], UNPROTECTED)
