"""The store on a private PostgreSQL server: the same promises as on SQLite."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from tests.broken_worlds import in_world
from tests.core.store.arbitrary import RACE, with_fresh_ids
from tests.integration.awkward import make_launch, make_race, make_slice
from tests.integration.postgresql import DEADLINE_S, find, running_server

from stackrace.base import ids
from stackrace.base.codec import decode
from stackrace.base.errors import StoreError
from stackrace.measure.launch import Launch, Slice
from stackrace.race.results.race import Ending
from stackrace.race.run.resume import Checkpoint, going_on
from stackrace.store import open_store


@pytest.fixture(scope="module")
def server():
    """Yield the server's URL without a database; the path of a socket must be short."""
    if find("initdb") is None or find("postgres") is None:
        pytest.skip("PostgreSQL's server is not installed: apt install postgresql")
    with tempfile.TemporaryDirectory(prefix="pg") as folder, running_server(folder):
        yield f"postgresql://ana@/{{}}?host={folder}"


def database(server, template="template1"):
    """Make a database, and return its URL."""
    name = f"races_{ids.generate()}"
    host = server.partition("host=")[2]
    made = f"CREATE DATABASE {name} TEMPLATE {template}"
    subprocess.run([find("psql"), "-h", host, "-U", "ana", "-qc", made, "postgres"], check=True)
    return server.format(name)


@pytest.fixture(scope="module")
def made_once(server):
    """The name of a database with a store's tables."""
    url = database(server)
    open_store(url).close()
    return url.partition("@/")[2].partition("?")[0]


@pytest.fixture
def url(server, made_once):
    """The URL of a store that holds nothing."""
    return database(server, made_once)


@pytest.fixture
def store(url):
    with open_store(url) as opened:
        yield opened


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(race=RACE)
def test_whatever_a_race_holds_loads_equal(store, race):
    race = with_fresh_ids(race)
    store.begin(race)
    assert store.load(race.id) == race


def test_a_race_that_cannot_be_stored_whole_is_not_stored_at_all(store):
    launch = make_launch()
    with pytest.raises(StoreError, match="already in use"):
        store.begin(replace(make_race(), launches=(launch, launch)))
    assert store.latest() is None


@pytest.mark.exhaustive
def test_processes_that_open_an_empty_database_at_once_all_succeed(server):
    url = database(server)
    script = "import sys; from stackrace.store import open_store; print(open_store(sys.argv[1]).latest())"
    with ExitStack() as running:
        processes = []
        for _ in range(3):
            process = subprocess.Popen([sys.executable, "-c", script, url], stdout=subprocess.PIPE, text=True)
            processes.append(running.enter_context(process))
            running.callback(process.kill)
        assert [process.communicate(timeout=DEADLINE_S)[0].strip() for process in processes] == ["None"] * 3


def test_a_newer_store_is_refused(store, url):
    from django.db import connections

    with connections[store.alias].cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('stackrace', '9999_later', now())"
        )
    with pytest.raises(StoreError, match="newer Stackrace"):
        open_store(url)


def test_a_missing_database_is_explained(server):
    with pytest.raises(StoreError, match="createdb") as caught:
        open_store(server.format("absent"))
    assert 'database "absent" does not exist' in caught.value.detail


def test_a_database_without_rights_is_explained(server):
    url = database(server)
    host = server.partition("host=")[2]
    psql = [find("psql"), "-h", host, "-U", "ana", "-qc", "CREATE ROLE guest LOGIN", "postgres"]
    subprocess.run(psql, check=True)
    with pytest.raises(StoreError, match="grant it CREATE"):
        open_store(url.replace("ana@", "guest@"))


@pytest.mark.parametrize(
    "url", ["postgresql://ana:secret@127.0.0.1:1/races", "postgresql://ana@/races?host=/absent"]
)
def test_an_unreachable_server_is_explained(url):
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        open_store(url)
    assert "secret" not in str(caught.value) + caught.value.detail


def test_a_server_that_goes_away_is_explained():
    if find("initdb") is None:
        pytest.skip("PostgreSQL's server is not installed: apt install postgresql")
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        with running_server(folder):
            store = open_store(f"postgresql://ana@/postgres?host={folder}")
            store.begin(make_race())
        with pytest.raises(StoreError, match="STACKRACE_STORE"):
            store.latest()
        store.close()


@pytest.fixture
def psql(server, url):
    """Run SQL with PostgreSQL's own shell, as another program and perhaps another user does."""
    host, name = server.partition("host=")[2], url.partition("@/")[2].partition("?")[0]

    def run(sql, user="ana"):
        command = [find("psql"), "-h", host, "-U", user, "-v", "ON_ERROR_STOP=1", "-qtAc", sql, name]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_measuring_leaves_no_history(store):
    launch = make_launch()
    race = replace(make_race(), launches=(), ending=None, elapsed_s=0.0)
    store.begin(race)
    store.add_launch(race.id, Launch(id=launch.id, block=launch.block, stack=launch.stack))
    store.add_slice(launch.id, make_slice(0))
    store.end_launch(launch)
    store.end(race.id, Ending.ANSWERED, 2.0)
    whole = make_race()
    store.begin(whole)
    assert store.alterations(race.id) == store.alterations(whole.id) == ()


def test_that_an_interrupted_race_goes_on_is_measuring_and_nothing_else_is(store, psql):
    launch, died = make_launch(), replace(make_launch(), failure=None)
    race = replace(make_race(), launches=(launch, died), ending=None)
    checkpoint = Checkpoint(request={"folder": "/srv/\udcff\0", "seed": 2**70}, folder="/tmp/stackrace-01ab23cd")
    store.begin(race, checkpoint)
    checkpoint = replace(checkpoint, blocks=1, spent_s=0.1 + 0.7)
    store.end_block(race.id, checkpoint)
    store.end(race.id, Ending.INTERRUPTED, 2.0)
    assert store.checkpoint(race.id) == checkpoint
    former = going_on(store.load(race.id), done=0, spent_s=1.0, budget_s=1e6)
    store.resume(former, checkpoint)
    assert store.load(race.id) == replace(former, elapsed_s=2.0)
    assert all(launch.cut_short for launch in store.load(race.id).launches)
    with pytest.raises(StoreError, match="was not interrupted"):
        store.resume(former, checkpoint)
    store.end(race.id, Ending.BUDGET, 3.0)
    assert store.alterations(race.id) == ()
    for sql in (
        "UPDATE stackrace_race SET ending = NULL, resumed = 2",
        "UPDATE stackrace_launch SET failure_kind = NULL",
        "DELETE FROM stackrace_slice",
    ):
        assert psql(sql).returncode == 0
    assert {each.kind for each in store.alterations(race.id)} == {"race", "launch", "slice"}


def test_every_change_tells_who_when_and_what_was_before(store, psql):
    race = make_race()
    store.begin(race)
    for sql in (
        "UPDATE stackrace_race SET app = 'faster', elapsed_s = 0",
        'UPDATE stackrace_slice SET document = replace(document, \'"hop":"\', \'"hop":"x\') '
        "WHERE document LIKE '%\"index\":1,%'",
        "UPDATE stackrace_slice SET document = document",
        "DELETE FROM stackrace_stack_facts",
        f"INSERT INTO stackrace_stack_facts (race_id, document) VALUES ('{race.id}', '{{\"stack\":\"bjoern\"}}')",
    ):
        assert psql(sql).returncode == 0
    told = store.alterations(race.id)
    deeds = [(each.kind, each.deed.value, set(each.changed)) for each in told]
    assert deeds[0] == ("race", "update", {"app", "elapsed_s"})
    assert deeds[1:3] == [("slice", "update", {"document"})] * 2
    assert deeds[3:] == [("facts", "delete", set()), ("facts", "insert", set())]
    assert {each.who for each in told} == {"ana, psql"}
    assert told[0].before["app"] == "demo" and told[0].before["elapsed_s"] == 0.1 + 0.7
    assert decode(Slice, json.loads(told[1].before["document"])) == make_slice(1)
    assert told[0].at.endswith("+00:00")
    assert "altered 5 times" in store.load(race.id).notes[-1]


def test_who_may_change_results_but_not_history_still_leaves_some(store, psql):
    race = make_race()
    store.begin(race)
    psql("CREATE ROLE clerk LOGIN; GRANT SELECT, UPDATE ON stackrace_race TO clerk")
    done = psql("SET search_path TO pg_catalog; UPDATE public.stackrace_race SET app = 'other'", user="clerk")
    assert done.returncode == 0, done.stderr
    assert [each.who for each in store.alterations(race.id)] == ["clerk, psql"]
    assert "permission denied" in psql("DELETE FROM stackrace_history", user="clerk").stderr


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE stackrace_race SET id = 'other'",
        "UPDATE stackrace_slice SET launch_id = 'other'",
        "UPDATE stackrace_ids SET id = 'other'",
        "DELETE FROM stackrace_ids",
        "TRUNCATE stackrace_slice",
        "TRUNCATE stackrace_race CASCADE",
    ],
)
def test_what_would_leave_no_trace_is_refused(store, psql, sql):
    race = make_race()
    store.begin(race)
    done = psql(sql)
    assert done.returncode and "ERROR" in done.stderr
    assert store.load(race.id) == race


@pytest.mark.exhaustive
def test_a_deleted_race_leaves_the_registry_and_stays_in_history(store, psql):
    race = make_race()
    store.begin(race)
    store.name(race.id, "before-upgrade-2024")
    assert store.load("before-upgrade-2024") == race
    tables = ("slice", "launch", "stack_facts", "race")
    done = psql(";".join(f"DELETE FROM stackrace_{table}" for table in tables))
    assert done.returncode == 0, done.stderr
    assert psql("SELECT count(*) FROM stackrace_ids").stdout.strip() == "0"
    assert store.find(race.id[:8], deleted=True) == race.id
    assert len(store.alterations(race.id)) == 4 + 2 + 1 + 1


@pytest.mark.exhaustive
def test_an_id_is_used_once_across_all_tables(store):
    race = make_race()
    store.begin(race)
    for taken in (race.id, race.launches[0].id):
        with pytest.raises(StoreError, match="already in use"):
            store.begin(replace(make_race(), id=taken))
    store.name(race.id, "before-upgrade-2024")
    with pytest.raises(StoreError, match="name never changes"):
        store.name(race.id, "another-good-name")


NAMELESS = """
from stackrace.base.errors import StoreError
from stackrace.store import open_store
try:
    with open_store("postgresql://127.0.0.1:9/races"):
        pass
except StoreError as error:
    print(error.message)
"""


def test_a_user_without_a_name_is_told_to_name_the_database_s():
    pytest.importorskip("psycopg")
    command = in_world("", [sys.executable, "-c", NAMELESS], stranger=True)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "this user has no name; put the database's user into the URL" in done.stdout
