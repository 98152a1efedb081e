"""Apps with their data in their services: made once, copied ever after, and every way it can go wrong."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from stackrace.app.app import App, Entry, EntryKind
from stackrace.app.bundle import bundled
from stackrace.base.errors import AppError, LaunchError
from stackrace.deploy.folder_templates import Templates
from stackrace.deploy.guard import Guard
from stackrace.deploy.seeding import Seeding
from stackrace.stacks.services import services

CORE = min(os.sched_getaffinity(0))
FILL = "from django.contrib.auth.models import Group; Group.objects.create(name='one more')"


@contextmanager
def seeding(cache, said, *names):
    for name in names:
        if missing := services()[name].missing():
            pytest.skip(missing)
    with Guard() as guard:
        beside = Seeding(names, guard, (CORE,), Templates(cache, said.append))
        beside.data.mkdir()
        yield beside


def bundled_app(python, beside, *prepare):
    app = bundled().app(python=python, data=beside.data)
    return replace(app, environment={**app.environment, **beside.environment}, prepare=(*app.prepare, *prepare))


def groups(beside):
    with sqlite3.connect(beside.data / "pages.sqlite3") as database:
        return database.execute("select count(*) from auth_group").fetchone()[0]


def test_a_bundled_apps_data_is_made_once_and_copied_ever_after(django_python, tmp_path):
    said = []
    for turn in range(3):
        with seeding(tmp_path, said) as beside:
            beside.bring_up(bundled_app(django_python, beside, ("python", "manage.py", "shell", "-c", FILL)))
            assert groups(beside) == 1
        assert len([what for what in said if what.step.is_once]) == 1, turn


@pytest.mark.exhaustive
def test_another_preparation_is_another_template(django_python, tmp_path):
    said = []
    for prepare in ((), (("python", "manage.py", "shell", "-c", FILL),)):
        with seeding(tmp_path, said) as beside:
            beside.bring_up(bundled_app(django_python, beside, *prepare))
            assert groups(beside) == len(prepare)


@pytest.mark.exhaustive
def test_what_leads_out_of_the_app_is_prepared_each_time(django_python, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for _ in range(2):
        with seeding(tmp_path, []) as beside:
            app = bundled_app(django_python, beside)
            app = replace(app, environment={**app.environment, "APP_DATA": str(elsewhere)})
            beside.bring_up(app)
        (elsewhere / "pages.sqlite3").unlink()
    assert not (tmp_path / "services").exists()


def a_users_own(folder, beside, *prepare):
    return App(
        name="own",
        root=folder,
        entry=Entry(kind=EntryKind.WSGI, target="own:app"),
        python=Path(sys.executable),
        environment=beside.environment,
        prepare=prepare,
    )


SEED = "create table item as select generate_series(1, 1000) as number"


@pytest.mark.exhaustive
def test_a_users_own_app_is_prepared_each_time_and_settled(tmp_path):
    for _ in range(2):
        with seeding(tmp_path, [], "postgresql") as beside:
            beside.bring_up(a_users_own(tmp_path, beside, ("psql", "-Xqc", SEED)))
            known = "select reltuples from pg_class where relname = 'item'"
            asked = subprocess.run(
                ["psql", "-XAtc", known], env=os.environ | beside.environment, capture_output=True, text=True
            )
            assert asked.stdout.strip() == "1000"
            ((pid,),) = beside.pids.values()
            assert os.sched_getaffinity(pid) == {CORE}
    assert [path.name.partition("-")[0] for path in (tmp_path / "services").glob("*[!k]")] == ["postgresql"]


def test_a_preparation_that_fails_ends_with_its_own_words_and_keeps_nothing(django_python, tmp_path):
    said = []
    with seeding(tmp_path, said, "redis") as beside:
        app = bundled_app(django_python, beside, ("python", "manage.py", "no_such_command"))
        with pytest.raises(AppError, match=r"manage\.py no_such_command") as caught:
            beside.bring_up(app)
        assert "Unknown command" in caught.value.detail
        ((pid,),) = beside.pids.values()
    assert not Path(f"/proc/{pid}").exists()
    assert list((tmp_path / "services").glob("django*[!k]")) == []
    with seeding(tmp_path, said, "redis") as beside:
        beside.bring_up(bundled_app(django_python, beside))


@pytest.mark.exhaustive
def test_a_service_that_ends_while_it_is_filled_is_named_with_its_own_words(tmp_path):
    with seeding(tmp_path, [], "postgresql") as beside:
        stop = (
            "sh",
            "-c",
            "kill -QUIT $(head -1 $PGHOST/data/postmaster.pid); until ! psql -qc ''; do :; done; false",
        )
        with pytest.raises(LaunchError, match="because a service ended") as caught:
            beside.bring_up(a_users_own(tmp_path, beside, stop))
        assert "immediate shutdown request" in caught.value.detail


def test_nothing_of_a_preparation_outlives_a_signal_to_stackrace(tmp_path):
    script = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from tests.integration.test_seeding import a_users_own, seeding
from stackrace.cli.signals import heed
folder = Path({str(tmp_path)!r})
heed()
with seeding(folder, []) as beside:
    print(beside.data.parent, flush=True)
    beside.bring_up(a_users_own(folder, beside, ("sh", "-c", "sleep 1000 & echo $! > pid; mv pid child; wait")))
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as race:
        directory = Path(race.stdout.readline().strip())
        while not (tmp_path / "child").exists():
            assert race.poll() is None
        race.send_signal(signal.SIGTERM)
    assert race.returncode != 0
    assert not directory.exists()
    child = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/stat")
    # ended, whether or not somebody has collected it yet
    assert not child.exists() or " Z " in child.read_text()


def small_disk(tmp_path, megabytes, variable, work):
    """Run ``work`` where ``variable`` leads to a real file system of that size; returns its error's text."""
    script = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from stackrace.base.errors import StackraceError
from tests.integration.test_seeding import {work.__name__}
folder = Path({str(tmp_path)!r})
try:
    {work.__name__}(folder)
except StackraceError as error:
    print(type(error).__name__, error)
print("left:", sorted(path.name for path in Path("/mnt").rglob("*")))
"""
    mount = f'mount -t tmpfs -o size={megabytes}m none /mnt || exit 77; exec env {variable}=/mnt "$@"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", sys.executable, "-c", script],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")} if variable != "XDG_CACHE_HOME" else None,
        capture_output=True,
        text=True,
    )
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def bring_up_postgresql(folder):
    from stackrace.deploy.environments import cache_folder

    with seeding(cache_folder(), [], "postgresql") as beside:
        beside.bring_up(a_users_own(folder, beside))


def seed_much(folder):
    from stackrace.deploy.environments import cache_folder

    with seeding(cache_folder(), [], "postgresql") as beside:
        much = "create table item as select n, repeat('x', 100) from generate_series(1, 1000000) as n"
        beside.bring_up(a_users_own(folder, beside, ("psql", "-Xqc", much)))


@pytest.mark.parametrize(
    ("megabytes", "variable", "work", "words"),
    [
        (20, "TMPDIR", bring_up_postgresql, "initdb"),
        pytest.param(70, "TMPDIR", seed_much, "prepare: psql", marks=pytest.mark.exhaustive),
        pytest.param(20, "XDG_CACHE_HOME", bring_up_postgresql, "cannot be copied", marks=pytest.mark.exhaustive),
    ],
    ids=["making", "seeding", "keeping"],
)
def test_a_full_disk_is_a_clear_error_and_leaves_nothing(tmp_path, megabytes, variable, work, words):
    if missing := services()["postgresql"].missing():
        pytest.skip(missing)
    said = small_disk(tmp_path, megabytes, variable, work)
    assert "Error" in said
    assert words in said
    assert "No space left on device" in said
    assert f"set {variable} to a folder with more room" in said
    left = said.rpartition("left:")[2]
    assert "stackrace-" not in left
    assert ".part" not in left
    assert "data" not in left


@pytest.mark.exhaustive
def test_a_template_that_the_disk_has_no_room_for_is_still_whole_afterwards(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if missing := services()["postgresql"].missing():
        pytest.skip(missing)
    bring_up_postgresql(tmp_path)
    said = small_disk(tmp_path, 20, "TMPDIR", bring_up_postgresql)
    assert "cannot be copied" in said
    assert "set TMPDIR" in said
    bring_up_postgresql(tmp_path)
