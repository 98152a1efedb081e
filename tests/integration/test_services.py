"""Real services, started privately beside an app, and nothing left of them."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.broken_worlds import STRANGER, for_everybody, in_world
from tests.ordinary import ordinarily
from tests.services import start_services

from stackrace.base.errors import InputError, LaunchError
from stackrace.deploy.environments import cache_folder
from stackrace.deploy.folder_templates import Templates
from stackrace.deploy.guard import Guard
from stackrace.deploy.privileges import unprivileged
from stackrace.deploy.sockets import listeners
from stackrace.deploy.started_services import Services
from stackrace.measure.probe.proc import open_files
from stackrace.stacks.services import services


def prepared(names, guard, said=None):
    for name in names:
        if missing := services()[name.partition("#")[0]].missing():
            pytest.skip(missing)
    return Services(names, guard, (), Templates(cache_folder(), [].append if said is None else said.append))


@pytest.fixture(scope="module")
def running():
    """Services by name, each started when first asked for: for tests that only ask them."""
    made = {}
    with ExitStack() as up:

        def of(name):
            if name not in made:
                made[name] = prepared([name], up.enter_context(Guard()))
                made[name].start()
            return made[name]

        yield of


@pytest.mark.parametrize("name", ordinarily(sorted(services()), {"postgresql", "memcached"}))
def test_a_service_starts_answers_and_goes(name):
    with Guard() as guard:
        private = prepared([name], guard)
        private.start()
        ((pid,),) = private.pids.values()
        assert pid in guard.status([pid])[pid].alive
        assert any(str(guard.directory) in value for value in private.environment.values())
        recipe = services()[name].recipe(guard.directory / name)
        assert subprocess.run(recipe.ready, capture_output=True).returncode == 0
    assert not Path(f"/proc/{pid}").exists()
    assert not guard.directory.exists()


@pytest.mark.parametrize("name", ordinarily(["postgresql", "mariadb"], {"postgresql"}))
def test_a_second_start_makes_no_database_again(name, running):
    running(name)
    said = []
    with Guard() as guard:
        prepared([name], guard, said).start()
    assert said == []


@pytest.mark.parametrize("name", ["postgresql", pytest.param("mariadb", marks=pytest.mark.exhaustive), "redis"])
def test_what_is_kept_of_a_service_is_there_in_a_copy(name, tmp_path):
    with Guard() as guard:
        filled = prepared([name], guard)
        filled.start()
        assert ask(filled, name, WRITE[name]) is not None
        filled.settle()
        filled.stop()
        filled.keep(tmp_path)
    for _ in range(2):
        with Guard() as guard:
            copy = prepared([name], guard)
            copy.start(tmp_path)
            assert ask(copy, name, READ[name]) == "1000"
            ask(copy, name, FORGET[name])


WRITE = {
    "postgresql": "create table item as select generate_series(1, 1000) as number",
    "mariadb": "use app; create table item as select seq as number from seq_1_to_1000",
    "redis": "set item 1000",
}
READ = {"postgresql": "select count(*) from item", "mariadb": "select count(*) from app.item", "redis": "get item"}
FORGET = {"postgresql": "drop table item", "mariadb": "drop table app.item", "redis": "del item"}


def ask(private, name, what):
    """Ask with the variables that an app is handed, and nothing else."""
    to = private.environment
    command = {
        "postgresql": ["psql", "-XAtq", "-c", what],
        "mariadb": ["mariadb", "--no-defaults", "-u", to.get("MARIADB_USER", ""), "-N", "-e", what],
        "redis": ["redis-cli", "-s", to.get("REDIS_SOCKET", ""), *what.split()],
    }[name]
    done = subprocess.run(command, env={"PATH": os.environ["PATH"], **to}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("name", "question", "answers"),
    [
        (
            "postgresql",
            "select string_agg(name || '=' || setting, ' ' order by name) from pg_settings where name in "
            "('autovacuum', 'checkpoint_timeout', 'fsync', 'synchronous_commit', 'full_page_writes')",
            "autovacuum=off checkpoint_timeout=86400 fsync=on full_page_writes=on synchronous_commit=on",
        ),
        (
            "mariadb",
            "select concat_ws(' ', @@innodb_stats_auto_recalc, @@event_scheduler,"
            " @@innodb_buffer_pool_load_at_startup, @@aria_checkpoint_interval, @@innodb_flush_log_at_trx_commit,"
            " @@innodb_doublewrite)",
            "OFF OFF OFF 0 1 ON",
        ),
        ("redis", "config get save", "save"),
        ("redis", "config get appendonly", "appendonly\nno"),
        ("redis", "config get activedefrag", "activedefrag\nno"),
    ],
)
def test_maintenance_is_off_and_durability_as_shipped(name, question, answers, running):
    assert ask(running(name), name, question) == answers


def test_the_planner_knows_what_was_filled_in_though_nothing_runs_in_the_background(running):
    private = running("postgresql")
    ask(private, "postgresql", WRITE["postgresql"])
    private.settle()
    known = "select reltuples::int || ' ' || relallvisible from pg_class where relname = 'item'"
    count, visible = ask(private, "postgresql", known).split()
    assert count == "1000"
    assert int(visible) > 0


def test_the_users_own_variables_do_not_lead_a_service_astray(monkeypatch):
    monkeypatch.setenv("PGPORT", "6543")
    monkeypatch.setenv("PGOPTIONS", "-c no_such_option=1")
    with Guard() as guard:
        private = prepared(["postgresql"], guard)
        private.start()
        private.settle()
        assert ask(private, "postgresql", "show port") == "5432"


def test_with_two_databases_the_first_one_is_the_database_url():
    with Guard() as guard:
        to = prepared(["mariadb", "postgresql"], guard).environment
        assert to["DATABASE_URL"] == to["MARIADB_URL"] != to["POSTGRESQL_URL"]
        assert to["POSTGRESQL_URL"].startswith("postgresql://")
        to = prepared(["postgresql", "mariadb"], guard).environment
        assert to["DATABASE_URL"] == to["POSTGRESQL_URL"]


def test_a_second_one_of_a_kind_has_a_process_a_socket_and_variables_of_its_own():
    with Guard() as guard:
        private = prepared(["memcached", "memcached#2"], guard)
        private.start()
        assert set(private.pids) == {"memcached", "memcached#2"}
        assert private.pids["memcached"] != private.pids["memcached#2"]
        sockets = {private.environment["MEMCACHED_SOCKET"], private.environment["MEMCACHED_SOCKET_2"]}
        assert len(sockets) == 2
        assert all(Path(socket).is_socket() for socket in sockets)


def test_services_listen_on_no_network():
    with Guard() as guard:
        present = [name for name, service in services().items() if not service.missing()]
        beside = start_services(present, guard, cores=())
        roots = [pid for pids in beside.pids.values() for pid in pids]
        family = {pid for status in guard.status(roots).values() for pid in status.alive}
        assert len(family) >= len(present)
        held = {inode for pid in family for inode in open_files(pid).sockets}
        assert held and not held & set().union(*listeners().values())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((name, "known are mariadb, memcached, postgresql, redis") for name in ("oracle", "#2", "")),
        *(
            (f"memcached#{number}", r"not numbered 2 to 9.*\[\"memcached\", \"memcached#2\"\]")
            for number in ("1", "10", "x")
        ),
    ],
)
def test_an_unknown_service_names_the_known_ones(name, words):
    with Guard() as guard, pytest.raises(InputError, match=words):
        Services([name], guard, (), Templates(cache_folder(), print))


def test_the_same_service_twice_tells_how_a_second_one_is_called():
    with Guard() as guard, pytest.raises(InputError, match="memcached#2"):
        Services(["redis", "redis"], guard, (), Templates(cache_folder(), print))


@pytest.mark.parametrize(
    ("name", "file", "content", "words"),
    [
        ("postgresql", "postgresql.conf", b"no_such_option = 1\n", "no_such_option"),
        pytest.param("postgresql", "PG_VERSION", b"8.4\n", "8.4", marks=pytest.mark.exhaustive),
        pytest.param("mariadb", "ibdata1", b"not a tablespace", "ibdata1", marks=pytest.mark.exhaustive),
        ("redis", "dump.rdb", b"not a dump", "signature"),
    ],
)
def test_a_service_that_does_not_start_tells_its_own_last_words(name, file, content, words, tmp_path):
    with Guard() as guard:
        whole = prepared([name], guard)
        whole.start()
        whole.settle()
        whole.stop()
        whole.keep(tmp_path)
        (tmp_path / name / file).write_bytes(content)
        with pytest.raises(LaunchError, match=f"{name} .* at start") as caught:
            whole.start(tmp_path)
        assert words in caught.value.detail
    assert not guard.directory.exists()


def test_a_service_that_dies_is_told_with_its_last_words():
    with Guard() as guard:
        private = prepared(["postgresql"], guard)
        private.start()
        assert private.died() == ""
        ((pid,),) = private.pids.values()
        guard.kill(pid)
        while not private.died():
            pass
        assert "postgresql was ended by SIGKILL" in private.died()
        assert "ready to accept connections" in private.died()


NAMELESS = """
from pathlib import Path
from stackrace.base.errors import InputError
from stackrace.deploy.guard import Guard
from stackrace.deploy.started_services import Services
from stackrace.deploy.folder_templates import Templates
with Guard() as guard:
    for name in ("redis", "postgresql"):
        try:
            Services([name], guard, (), Templates(Path("/nowhere"), print))
        except InputError as error:
            print(error)
"""


def test_a_user_without_a_name_is_told_before_a_service_that_wants_one(temporary):
    if missing := services()["postgresql"].missing() or services()["redis"].missing():
        pytest.skip(missing)
    command = in_world("", [sys.executable, "-c", NAMELESS], stranger=True)
    for_everybody(temporary)
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(temporary)})
    (said,) = done.stdout.splitlines()
    assert said.startswith(f"[app] services: postgresql does not run as user {STRANGER}, who has no name")
    assert said.endswith("-v /etc/passwd:/etc/passwd:ro")


def test_services_run_without_roots_powers():
    if not unprivileged():
        pytest.skip("only root has them")
    with Guard() as guard:
        private = prepared(["redis"], guard)
        private.start()
        ((pid,),) = private.pids.values()
        assert Path(f"/proc/{pid}/ns/user").readlink() != Path("/proc/self/ns/user").readlink() or (
            Path(f"/proc/{pid}").stat().st_uid != 0
        )
