"""Seeding: all of it or nothing, and errors that say what to do."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.django_site import site
from tests.unprotected import examine

from stackrace.app.golden import golden
from stackrace.base.errors import AppError
from stackrace.deploy.guard import Guard
from stackrace.measure.workload import Request


@pytest.fixture(scope="module")
def migrated():
    """A site on SQLite, not seeded, and a copy of its database."""
    with Guard() as guard:
        made = site("sqlite", guard)
        yield made, database_of(made).read_bytes()


@pytest.fixture
def empty(migrated):
    """A site on SQLite, migrated, not seeded, whatever another test did to it."""
    made, database = migrated
    for leftover in database_of(made).parent.glob("pages.sqlite3-*"):
        leftover.unlink()
    database_of(made).write_bytes(database)
    return made


def database_of(made):
    return Path(made.app.environment["APP_DATA"]) / "pages.sqlite3"


def test_an_unseeded_page_tells_the_command(empty):
    paths = {"/browse/": "browse", "/browse/loans/": "browse", "/db/": "world", "/fortunes/": "world"}
    found = examine(empty.app, [Request(path=path) for path in paths])
    for exchange, name in zip(found.exchanges, paths.values(), strict=True):
        with pytest.raises(AppError, match=f"python manage.py seed {name}"):
            golden(replace(found, exchanges=(exchange,)))


@pytest.mark.exhaustive
def test_a_full_disk_leaves_nothing_half_seeded(empty):
    before = empty.state
    done = empty.seed("browse", file_limit=20_000_000)
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: seeding browse failed while filling library_")
    assert "Nothing was kept" in done.stderr
    assert "DATABASE_URL or APP_DATA" in done.stderr
    assert empty.state == before
    assert empty.seed("world").returncode == 0


def test_a_database_at_its_size_limit_is_told_as_full(empty):
    limited = (
        "import os, sys; sys.path.insert(0, os.getcwd())\n"
        "import django; django.setup()\n"
        "from django.core.management import execute_from_command_line\n"
        "from django.db import connection\n"
        "connection.cursor().execute('PRAGMA max_page_count = 3000')\n"
        "execute_from_command_line(['manage.py', 'seed', 'browse'])\n"
    )
    before = empty.state
    done = empty.run("python", "-c", limited)
    assert done.returncode == 1
    assert "full" in done.stderr
    assert empty.state == before


def test_a_database_without_tables_is_told(empty):
    database_of(empty).unlink()
    done = empty.seed("world")
    assert done.returncode == 1
    assert "was `python manage.py migrate` run?" in done.stderr


def test_rows_from_elsewhere_are_left_alone(empty):
    add = (
        "import os, sys; sys.path.insert(0, os.getcwd())\n"
        "import django; django.setup()\n"
        "from frameworks.models import Fortune; Fortune.objects.create(id=1, message='mine')\n"
    )
    assert empty.run("python", "-c", add).returncode == 0
    done = empty.seed("world")
    assert done.returncode == 1
    assert "the table fortune holds rows that were not seeded here" in done.stderr
    assert empty.state[0]["world"] == 0


def test_an_unknown_seed_names_the_known_ones(empty):
    done = empty.seed("everything")
    assert done.returncode == 2
    assert "choose from" in done.stderr
    assert "world" in done.stderr


def test_the_deployment_check_is_clean(empty):
    done = empty.run("python", "manage.py", "check", "--deploy", "--fail-level", "WARNING")
    assert done.returncode == 0, done.stderr
    assert empty.run("python", "manage.py", "makemigrations", "--check", "--dry-run").returncode == 0
