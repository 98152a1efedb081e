"""The store on a private PostgreSQL server: the same promises as on SQLite."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from stackrace.model import ids
from stackrace.model.errors import StoreError
from stackrace.model.host import HostFacts
from stackrace.model.launch import Failure, FailureKind, HopUsage, Launch, MemorySample, Slice
from stackrace.model.load import Counts, Load, LoadResult, Quantiles, SeriesBin
from stackrace.model.race import Budget, Ending, Question, Race, StackFacts
from stackrace.model.verdict import Effect, Finding, Verdict
from stackrace.store import open_store

DEADLINE_S = 30
AWKWARD = "NUL \0, surrogate \udc80, escape \x1a, astral 🏁, backslash \\u0000, 'quotes\""


def find(program):
    """Return the path of one of the server's programs; Debian keeps them off the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)]))


def unprivileged(*command):
    """PostgreSQL refuses root: within a user namespace root is somebody else."""
    return ["unshare", "--user", "--map-user=33", "--map-group=33", *command] if os.geteuid() == 0 else [*command]


@contextmanager
def running_server(folder):
    """A fresh cluster that listens on a socket in ``folder``; stopped at the end."""
    data = f"{folder}/data"
    initdb = [find("initdb"), "-D", data, "-U", "ana", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(unprivileged(*initdb), check=True, capture_output=True)
    postgres = [find("postgres"), "-D", data, "-k", folder, "-h", "", "-F"]
    with (
        Path(folder, "log").open("wb") as log,
        subprocess.Popen(unprivileged(*postgres), stderr=log) as server,
    ):
        try:
            wait_until_ready(server, Path(folder))
            yield server
        finally:
            stop(server)


def stop(server):
    server.send_signal(signal.SIGINT)  # its fast shutdown
    try:
        server.wait(DEADLINE_S)
    finally:
        server.kill()  # does nothing once it has ended


def wait_until_ready(server, folder):
    deadline = time.monotonic() + DEADLINE_S
    status = folder / "data" / "postmaster.pid"
    while not (status.exists() and "ready" in status.read_text()):
        assert server.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.02)


@pytest.fixture(scope="module")
def server():
    """Yield the server's URL without a database; the path of a socket must be short."""
    if find("initdb") is None or find("postgres") is None:
        pytest.skip("PostgreSQL's server is not installed: apt install postgresql")
    with tempfile.TemporaryDirectory(prefix="pg") as folder, running_server(folder):
        yield f"postgresql://ana@/{{}}?host={folder}"


@pytest.fixture
def url(server):
    """The URL of an empty database."""
    name = f"races_{ids.generate()}"
    host = server.partition("host=")[2]
    subprocess.run(
        [find("psql"), "-h", host, "-U", "ana", "-qc", f"CREATE DATABASE {name}", "postgres"], check=True
    )
    return server.format(name)


@pytest.fixture
def store(url):
    with open_store(url) as opened:
        yield opened


def make_slice(index):
    """A slice with everything that a database could spoil."""
    latency = Quantiles(
        count=2**62, mean=0.1 + 0.2, p50=5e-324, p90=1.7976931348623157e308, p99=math.inf, p999=math.inf,
        max=1e22, censored=frozenset({"p99", "p999"}),
    )  # fmt: skip
    load = Load(concurrency=20, keep_alive=False, requests=2**40)
    result = LoadResult(
        started_at=1 / 3, duration_s=2.000000000000001,
        counts=Counts(
            scheduled=2**53 + 1, ok=1, non2xx=2, failed={"connect": 3, AWKWARD: 4}, timed_out=5, in_flight=6,
            unsent=7,
        ),
        latency=latency, connect=latency, histogram=bytes(range(256)) * 20,
        series=(SeriesBin(start_s=0.1, ok=1, errors=0, in_flight=1, p50_s=0.001, p99_s=math.inf),),
        status_classes={"2xx": 1, "5xx": 2}, bytes_read=2**63 - 1, connections_opened=1, reconnects=2,
        established_peak=3, generator_cpu_s=0.30000000000000004, generator_wait_s=5e-300, generator_busy=-0.0,
        fairness=1e-9, dead_time=-math.inf,
    )  # fmt: skip
    finding = Finding(
        check="fairness", effect=Effect.WARNS, seen=AWKWARD, threshold="≥ 0.8", remedy="raise\nthe backlog"
    )
    usage = HopUsage(hop="apache+mod_wsgi", cpu_s=1e-9, processes=5, threads=9, pss_bytes=2**40)
    return Slice(index=index, load=load, result=result, usage=(usage,), verdict=Verdict((finding,)))


def make_launch():
    return Launch(
        id=ids.generate(),
        block=3,
        stack="apache+mod_wsgi:mode=daemon",
        ready_s=0.1,
        warmup_s=3.0000000000000004,
        slices=(make_slice(0), make_slice(1)),
        memory=(MemorySample(at_s=0.1, pss_bytes={"apache+mod_wsgi": 2**40}),),
        failure=Failure(kind=FailureKind.DIED, message=AWKWARD, log=AWKWARD * 100),
    )


def make_race():
    return Race(
        id=ids.generate(),
        started_at="2024-05-06T07:08:09.123456+00:00",
        version="0.1.0",
        app="demo",
        urls=("/", "/?q=ä%00"),
        stacks=("apache+mod_wsgi:mode=daemon",),
        loads=(make_slice(0).load,),
        question=Question.RANKING,
        difference=0.05,
        budget_s=1200.0,
        cores=Budget(stack_cores=(0, 1), generator_cores=(2,)),
        seed=2**127 - 1,
        host=HostFacts(
            system="Linux",
            kernel="6",
            cpu=AWKWARD,
            cores=2,
            memory_bytes=2**40,
            virtual="",
            python="3.11",
            limits={"nofile": 2**64},
        ),
        notes=(AWKWARD,),
        facts=(StackFacts(stack="nginx", versions={"nginx": "1.22"}, configs={"nginx.conf": AWKWARD}),),
        launches=(make_launch(), make_launch()),
        elapsed_s=0.1 + 0.7,
        ending=Ending.EXHAUSTED,
    )


def test_a_race_with_awkward_values_loads_equal(store):
    race = make_race()
    store.begin(race)
    assert store.load(race.id[:8]) == race


def test_a_share_of_nothing_stays_nan(store):
    launch = make_launch()
    one = replace(launch.slices[0], result=replace(launch.slices[0].result, fairness=math.nan))
    race = replace(make_race(), launches=(replace(launch, slices=(one,)),))
    store.begin(race)
    assert math.isnan(store.load(race.id).launches[0].slices[0].result.fairness)


def test_an_open_launch_already_has_its_slices(store):
    race, launch = replace(make_race(), launches=(), ending=None), make_launch()
    store.begin(race)
    store.add_launch(race.id, replace(launch, memory=(), failure=None))
    store.add_slice(launch.id, make_slice(0))
    assert store.load(race.id).launches[0].slices == (make_slice(0),)
    store.end_launch(launch)
    store.end(race.id, Ending.INTERRUPTED, 3.5)
    expected = replace(launch, slices=(make_slice(0),))
    assert store.load(race.id) == replace(race, launches=(expected,), ending=Ending.INTERRUPTED, elapsed_s=3.5)
    assert store.list(1)[0].ending is Ending.INTERRUPTED


def test_a_race_that_cannot_be_stored_whole_is_not_stored_at_all(store):
    launch = make_launch()
    with pytest.raises(StoreError, match="taken already"):
        store.begin(replace(make_race(), launches=(launch, launch)))
    assert store.latest() is None


def test_processes_that_open_an_empty_database_at_once_all_succeed(url):
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


def test_a_database_without_rights_is_explained(server, url):
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
