"""Services that apps on other machines reach: by password where there is one, and leased to a coordinator."""

import os
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from tests.unit.absent import nothing_installed

from stackrace.base.errors import BreakdownError, InputError, MissingError
from stackrace.deploy.environments import cache_folder
from stackrace.deploy.guard import Guard
from stackrace.deploy.running_services import Services
from stackrace.deploy.sockets import LOOPBACK
from stackrace.deploy.templates import Templates
from stackrace.features.cluster import leased
from stackrace.features.cluster.leased import ask, close
from stackrace.features.cluster.serving import Serving, open_services
from stackrace.stacks.services import services

TOKEN = "a race's"

QUESTIONS = {
    "postgresql": ["psql", "-XAtqw", "-c", "select 'PONG'"],
    "mariadb": ["mariadb", "--no-defaults", "-uroot", "-Ne", "select 'PONG'"],
    "redis": ["redis-cli", "ping"],
}
SAID_WITHOUT = {
    "postgresql": "password",
    "mariadb": "Access denied",
    "redis": "Authentication required",
}


def skip_without(name):
    if missing := services()[name].missing():
        pytest.skip(missing)


def question(name, to, *, password):
    """Return what is asked over the network, and with which variables."""
    where = {
        "postgresql": [],
        "mariadb": ["-h", to.get("MARIADB_HOST", ""), "-P", to.get("MARIADB_PORT", "")],
        "redis": ["-h", to.get("REDIS_HOST", ""), "-p", to.get("REDIS_PORT", "")],
    }[name]
    known = {
        "postgresql": {key: value for key, value in to.items() if key.startswith("PG")},
        "mariadb": {"MYSQL_PWD": to.get("MARIADB_PASSWORD", "")},
        "redis": {"REDISCLI_AUTH": to.get("REDIS_PASSWORD", "")},
    }[name]
    if not password:
        known = {key: value for key, value in known.items() if key in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE")}
    first, *others = QUESTIONS[name]
    return subprocess.run(
        [first, *where, *others] if name == "redis" else [first, *others[:1], *where, *others[1:]],
        env={"PATH": os.environ["PATH"], **known}, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_a_service_on_a_network_asks_for_the_password_that_its_variables_hold(name):
    skip_without(name)
    with Guard() as guard:
        private = Services([name], guard, (), Templates(cache_folder(), lambda what: None), LOOPBACK)
        private.start()
        private.settle()
        to = private.environment
        assert question(name, to, password=True).stdout.strip() == "PONG"
        without = question(name, to, password=False)
        assert "PONG" not in without.stdout
        assert SAID_WITHOUT[name] in without.stdout + without.stderr
        secret = next(value for key, value in to.items() if key.endswith("PASSWORD"))
        assert f":{secret}@{LOOPBACK}:" in next(value for key, value in to.items() if key.endswith("_URL"))
        for pid in (pid for pids in private.running.pids.values() for pid in pids):
            assert secret not in Path(f"/proc/{pid}/cmdline").read_text()


def test_what_a_network_knows_is_in_no_template():
    skip_without("mariadb")
    templates = Templates(cache_folder(), lambda what: None)
    with Guard() as guard:
        Services(["mariadb"], guard, (), templates, LOOPBACK).start()
    with Guard() as guard:
        private = Services(["mariadb"], guard, (), templates)
        private.start()
        said = subprocess.run(
            ["mariadb", "--no-defaults", "-uroot", "-Ne", "select count(*) from mysql.user where host = '%'"],
            env={"PATH": os.environ["PATH"], **private.environment}, capture_output=True, text=True,
        )  # fmt: skip
        assert said.stdout.strip() == "0", said.stderr


def test_memcached_is_open_to_everybody_on_its_port():
    skip_without("memcached")
    with Guard() as guard:
        private = Services(["memcached"], guard, (), Templates(cache_folder(), lambda what: None), LOOPBACK)
        private.start()
        host, _, port = private.environment["MEMCACHED_SERVER"].partition(":")
        line = f'exec 3<>"/dev/tcp/{host}/{port}"; echo version >&3; head -1 <&3'
        assert subprocess.run(["bash", "-c", line], capture_output=True, text=True).stdout.startswith("VERSION")


@pytest.fixture
def serving():
    """Lend a redis to somebody who knows its token."""
    skip_without("redis")
    open_services(TOKEN, ["redis"], LOOPBACK)
    yield ask(TOKEN, Serving.environment, ())
    close(TOKEN)


def test_services_are_lent_to_one_race_at_a_time_and_closed(serving):
    assert question("redis", serving, password=True).stdout.strip() == "PONG"
    with pytest.raises(InputError, match="hosts another race"):
        open_services("another's", ["redis"], LOOPBACK)
    with pytest.raises(BreakdownError, match="not on this machine any more"):
        ask("another's", Serving.require, ())
    close("another's")
    assert question("redis", serving, password=True).stdout.strip() == "PONG"
    close(TOKEN)
    assert "refused" in question("redis", serving, password=True).stderr
    with pytest.raises(BreakdownError, match="its lease had run out"):
        ask(TOKEN, Serving.require, ())


def test_services_of_whose_coordinator_nobody_hears_are_closed(monkeypatch, serving):
    monkeypatch.setattr(leased, "LEASE_S", 0.0)
    until = time.monotonic() + 300
    while "refused" not in question("redis", serving, password=True).stderr:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_what_a_service_spent_is_told_for_any_time_that_is_over(serving):
    begun_s = time.monotonic()
    for _ in range(20):
        question("redis", serving, password=True)
    ended_s = time.monotonic()
    (usage,) = ask(TOKEN, Serving.spent, (begun_s, ended_s))
    assert (usage.hop, usage.processes) == ("redis", 1)
    assert usage.cpu_s > 0
    assert usage.pss_bytes > 0
    (before,) = ask(TOKEN, Serving.spent, (begun_s - 100, begun_s - 50))
    assert before.cpu_s == 0


def is_redis(process, port):
    title = " ".join(process.info["cmdline"] or ())
    return "redis-server" in title and f":{port}" in title


def test_a_service_that_died_is_told_with_its_last_words(serving):
    ask(TOKEN, Serving.require, ())
    [process] = [each for each in psutil.process_iter(["cmdline"]) if is_redis(each, serving["REDIS_PORT"])]
    process.kill()
    until = time.monotonic() + 300
    with pytest.raises(BreakdownError, match="a service ended") as told:
        while time.monotonic() < until:
            ask(TOKEN, Serving.spent, (0.0, 1.0))
    assert "redis was ended by SIGKILL" in told.value.detail


def test_what_is_not_installed_there_is_named_with_its_command(monkeypatch, tmp_path):
    nothing_installed(monkeypatch, tmp_path)
    open_services(TOKEN, ["memcached", "redis"], LOOPBACK)
    with pytest.raises(MissingError, match="run: stackrace install memcached redis"):
        ask(TOKEN, Serving.environment, ())
    close(TOKEN)
