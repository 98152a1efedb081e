"""Races through a real CouchDB-compatible server: exact, once, and without collisions."""

from __future__ import annotations

import json
import math
import socket
import threading
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from tests.couchdb import request, running_couchdb
from tests.factories import each_slice, make_race
from tests.integration.test_store_postgresql import make_race as make_awkward_race

from stackrace.base import ids
from stackrace.base.errors import StoreError
from stackrace.features.publish.couchdb import Database
from stackrace.features.publish.exchange import fetch, publish, published_ids
from stackrace.race.results.race import Ending
from stackrace.store import open_store


@pytest.fixture(scope="module")
def couchdb():
    with running_couchdb() as address:
        yield address


@pytest.fixture
def url(couchdb):
    """The URL of a database that is not there yet."""
    return f"http://{couchdb}/races_{ids.generate()}"


@pytest.fixture
def database(url):
    made = Database.at(url, {})
    made.open(create=True)
    return made


def fetched(database, here=(), named=False):
    """Everything in ``database`` that a store with the races ``here`` would take."""
    known, taken = {race.id: race for race in here}, []
    told = fetch(published_ids(database).ids, database, known.get, taken.append, named=named)
    return told, taken


@pytest.mark.parametrize("race", [make_race(), make_awkward_race()], ids=["plain", "awkward"])
def test_a_race_comes_back_exactly(database, race):
    assert publish(race, database)
    told, taken = fetched(database)
    assert taken == [race]
    assert told.taken == (race.id,) and not told.troubles


def test_infinities_and_shares_of_nothing_come_back(database):
    race = make_race()
    launch = race.launches[0]
    one = replace(launch.slices[0], result=replace(launch.slices[0].result, fairness=math.nan, dead_time=-math.inf))
    race = replace(race, launches=(replace(launch, slices=(one,)),), elapsed_s=math.nan)
    publish(race, database)
    (back,) = fetched(database)[1]
    assert math.isnan(back.elapsed_s)
    assert math.isnan(back.launches[0].slices[0].result.fairness)
    assert back.launches[0].slices[0].result.dead_time == -math.inf
    assert not publish(back, database)


@pytest.mark.exhaustive
def test_a_long_race_of_many_megabytes_is_one_document(database):
    dice = bytes(range(256)) * 8
    race = make_race(stacks=10, levels=(1, 10, 100), blocks=60)
    race = each_slice(race, lambda one: replace(one, result=replace(one.result, histogram=dice)))
    publish(race, database)
    assert len(json.dumps(request(f"{database}/{race.id}"))) < 8_000_000
    assert fetched(database)[1] == [race]


def test_publishing_again_changes_nothing(database):
    race = make_race()
    assert publish(race, database)
    revision = request(f"{database}/{race.id}")["_rev"]
    assert not publish(race, database)
    assert request(f"{database}/{race.id}")["_rev"] == revision


def test_another_content_under_the_same_id_is_left_alone_on_both_sides(database):
    race, other = make_race(), replace(make_race(), app="other")
    publish(race, database)
    with pytest.raises(StoreError, match=f"{race.id} is in http.*different content.*stackrace history"):
        publish(other, database)
    told, taken = fetched(database, here=[other])
    assert not taken and "different content" in told.troubles[0]
    assert fetched(database, here=[race])[0].known == (race.id,)


def test_two_machines_that_publish_the_same_race_at_once_agree(database):
    race, done = make_race(), []
    threads = [threading.Thread(target=lambda: done.append(publish(race, database))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [False, False, False, True]


def test_databases_that_replicate_each_other_end_up_with_every_race(couchdb, database):
    first, second = replace(make_race(), id=ids.generate()), replace(make_race(), id=ids.generate())
    other = Database.at(f"http://{couchdb}/other_{ids.generate()}", {})
    other.open(create=True)
    publish(first, database)
    publish(second, other)
    for source, target in ((database, other), (other, database)):
        names = {"source": source.path.strip("/"), "target": target.path.strip("/")}
        told = request(f"http://{couchdb}/_replicate", "POST", names)
        assert told["ok"]
    for each in (database, other):
        assert {race.id for race in fetched(each)[1]} == {first.id, second.id}
        assert not publish(first, each) and not publish(second, each)


def test_a_race_without_an_ending_is_not_published(database):
    with pytest.raises(StoreError, match="has not ended"):
        publish(replace(make_race(), ending=None), database)


def test_documents_of_others_are_passed_over_and_broken_ones_named(database):
    good, broken = make_race(), ids.generate()
    publish(good, database)
    request(f"{database}/3f2504e04f8941d39a0c0305e82c3301", "PUT", {"type": "invoice"})
    request(f"{database}/short", "PUT", {"type": "note"})
    request(f"{database}/{broken}", "PUT", {"type": "stackrace-race", "schema": 1, "race": {}})
    told, taken = fetched(database)
    assert taken == [good]
    assert len(told.troubles) == 1 and broken in told.troubles[0]


def test_more_documents_than_a_page_are_all_listed(database, monkeypatch):
    monkeypatch.setattr("stackrace.features.publish.couchdb._PAGE", 3)
    wanted = sorted(ids.generate() for _ in range(10))
    for each in wanted:
        request(f"{database}/{each}", "PUT", {})
    assert list(published_ids(database).ids) == wanted


def test_a_missing_database_is_offered_to_be_made(url):
    with pytest.raises(StoreError, match=r"no database http.*--create"):
        Database.at(url, {}).open()


def test_a_wrong_password_is_explained_and_never_shown():
    with running_couchdb("ana", "right") as address:
        for user, way_out in (("ana:secret@", "refuses user 'ana'"), ("", "STACKRACE_COUCHDB_USER")):
            with pytest.raises(StoreError, match=way_out) as caught:
                Database.at(f"http://{user}{address}/races", {}).open()
            assert "secret" not in str(caught.value)
        Database.at(f"http://ana:right@{address}/races", {}).open(create=True)


@contextmanager
def answering(answer: bytes):
    """A server on loopback that gives every connection the same answer; yields its URL."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def serve():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://ana:secret@127.0.0.1:{listening.getsockname()[1]}/races"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "does not speak HTTP"),
        (b"", "cannot be reached"),
        (b"HTTP/1.0 200 OK\r\n\r\n<html>hello", "is no CouchDB"),
        (b"HTTP/1.0 404 Not Found\r\n\r\n<html>not here", "is no CouchDB"),
        (b"HTTP/1.0 200 OK\r\n\r\n" + b"[" * 100_000, "is no CouchDB"),
        (b"HTTP/1.0 302 Found\r\nLocation: http://elsewhere/\r\n\r\n", "sends us elsewhere"),
        (b"HTTP/1.0 500 Oh\r\n\r\n{}", "status 500"),
        (b"HTTP/1.0 200 OK\r\n" + b"X: y\r\n" * 2000 + b"\r\n", "does not speak HTTP"),
    ],
)
def test_what_is_no_couchdb_is_explained_and_gets_no_further(answer, complaint):
    with answering(answer) as url, pytest.raises(StoreError, match=complaint) as caught:
        Database.at(url, {}).open()
    assert "secret" not in str(caught.value)


def test_nobody_there_is_explained():
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(StoreError, match=r"cannot be reached.*correct the URL"):
        Database.at(f"http://127.0.0.1:{port}/races", {}).open()


def test_an_answer_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr("stackrace.features.publish.couchdb._MOST_BYTES", 1 << 16)
    with (
        answering(b"HTTP/1.0 200 OK\r\n\r\n" + bytes(1 << 18)) as url,
        pytest.raises(StoreError, match="it is not a race"),
    ):
        Database.at(url, {}).open()


def test_a_race_goes_from_one_store_to_another_by_the_command_line(stackrace, url, tmp_path):
    one, other = f"sqlite:///{tmp_path}/one", f"sqlite:///{tmp_path}/other"
    race = replace(make_race(), ending=Ending.BUDGET)
    with open_store(one) as store:
        store.begin(race)
    refused = stackrace("publish", race.id[:6], url, "--store", one)
    assert refused.returncode == 2 and "--create" in refused.stderr
    done = stackrace("publish", race.id[:6], url, "--create", "--store", one)
    assert done.returncode == 0 and f"race {race.id} is now in http" in done.stdout
    assert "was already" in stackrace("publish", race.id, url, "--store", one).stdout
    for expected in (f"fetched {race.id}\n1 fetched, 0 here already", "0 fetched, 1 here already"):
        assert expected in stackrace("fetch", url, "--store", other).stdout
    with open_store(other) as store:
        assert store.load(race.id) == race
    missing = stackrace("fetch", url, "zzzz", "--store", other)
    assert missing.returncode == 2 and race.id in missing.stderr
    assert stackrace("report", race.id, "--store", other).returncode == 0
