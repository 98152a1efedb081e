"""A database that means harm: each bad document is refused alone, and none takes much memory."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import pytest
from tests.conftest import STACKRACE
from tests.factories import make_race

from stackrace.base import ids
from stackrace.base.errors import StoreError
from stackrace.cli.main import main
from stackrace.features.publish import couchdb
from stackrace.features.publish.exchange import fetch, published
from stackrace.race.results.race import Ending
from stackrace.store import open_store

PEAK_MIB = 450
"""Of the whole process, of which importing everything is a good part; the worst document took 1,750."""

GOOD = replace(make_race(), ending=Ending.BUDGET)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, documents, attachments=None, endless=False):
        super().__init__(("127.0.0.1", 0), Handler)
        self.documents, self.attachments, self.endless = documents, attachments or {}, endless
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/races"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        parts = urlsplit(self.path)
        names = [unquote(each) for each in parts.path.split("/")[2:]]
        body = self.answer(names, parts.query)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def answer(self, names, query):
        if not names:
            return b'{"db_name": "races"}'
        if names == ["_all_docs"] and self.server.endless:
            first = int(json.loads(unquote(query.partition("startkey=")[2].partition("&")[0] or '"0"'))) + 1
            listed = [*self.server.documents, *(f"{first + each:013}" for each in range(500))][:500]
            return json.dumps({"rows": [{"id": each} for each in listed]}).encode()
        if names == ["_all_docs"]:
            return json.dumps(
                {"rows": [{"id": 5}, *({"id": each} for each in sorted(self.server.documents))]}
            ).encode()
        if len(names) == 2:
            return self.server.attachments.get(names[0], b"")
        document = self.server.documents.get(names[0], {"_id": names[0], "type": "another"})
        return document if isinstance(document, bytes) else json.dumps(document).encode()


def measured(tmp_path, *arguments):
    """Run a verb; returns its result and the peak of its memory in MiB."""
    script = (
        "import resource, subprocess, sys\n"
        "code = subprocess.run(sys.argv[1:]).returncode\n"
        "print('PEAK', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(STACKRACE), *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    peak_kib = int(done.stdout.rpartition("PEAK ")[2])
    return done, peak_kib / 1024


@pytest.mark.exhaustive
def test_each_bad_document_is_refused_alone_and_the_good_one_is_taken(tmp_path):
    sent = published(GOOD)
    wrong = [ids.generate() for _ in range(10)]
    raced = dict(sent.document)
    digits = b'{"_id": "%b", "type": "stackrace-race", "schema": 2, "race": %b}'
    documents = {
        GOOD.id: raced,
        wrong[0]: {**raced, "_id": 5},
        wrong[1]: {**raced, "_id": ids.generate()},
        wrong[2]: {**raced, "_id": ["x"]},
        wrong[3]: b"[" * 90_000_000,
        wrong[4]: digits % (wrong[4].encode(), b"9" * 5_000),
        wrong[5]: digits % (wrong[5].encode(), b"[" * 100_000 + b"]" * 100_000),
        wrong[6]: digits % (wrong[6].encode(), b"[" + b"[]," * 2_500_000 + b"0]"),
    }
    bombs = {
        wrong[7]: b"[" + b"0," * 45_000_000 + b"0]",
        wrong[8]: b"10\r" * 20_000_000,
        wrong[9]: b"{" + b",".join(b'"%x":0' % each for each in range(1_900_000)) + b"}\n",
    }
    documents |= {
        each: {
            **raced,
            "_id": each,
            "race": {**raced["race"], "id": each, "launches": raced["race"]["launches"][:1]},
            "launches_sha256": hashlib.sha256(bulk).hexdigest(),
        }
        for each, bulk in bombs.items()
    }
    packed = {each: gzip.compress(bulk, 1) for each, bulk in bombs.items()}
    server = Server(documents, {GOOD.id: sent.packed, **packed})
    store = f"sqlite:///{tmp_path}/races"
    done, peak_mib = measured(tmp_path, "fetch", server.url, "--store", store)
    assert done.returncode == 2, done.stderr
    assert f"fetched {GOOD.id}\n1 fetched" in done.stdout
    assert "10 could not be copied" in done.stderr
    assert all(each in done.stderr for each in wrong)
    assert "Traceback" not in done.stderr
    assert peak_mib < PEAK_MIB, f"{peak_mib} MiB"
    with open_store(store) as results:
        assert results.load(GOOD.id) == GOOD


def test_a_document_of_very_many_values_is_not_even_parsed(monkeypatch):
    monkeypatch.setattr(couchdb, "_MOST_VALUES", 100)
    each = ids.generate()
    server = Server({each: {"_id": each, "race": [[]] * 200}})
    with pytest.raises(StoreError, match="100 values: it is no race"):
        couchdb.Database.at(server.url).get(each)


@pytest.mark.exhaustive
def test_endless_pages_are_cut_and_what_came_is_taken(tmp_path, monkeypatch, capsys):
    sent = published(GOOD)
    server = Server({GOOD.id: dict(sent.document)}, {GOOD.id: sent.packed}, endless=True)
    # called here, and cut sooner, as asking for twenty thousand documents takes a minute
    monkeypatch.setattr("stackrace.features.publish.couchdb._MOST_IDS", 1500)
    monkeypatch.setattr("sys.argv", ["stackrace", "fetch", server.url, "--store", f"sqlite:///{tmp_path}/races"])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    assert left.value.code == 2
    assert said.out == f"fetched {GOOD.id}\n1 fetched, 0 here already\n"
    assert "was cut after 1500 documents; fetch any other race by its whole id: stackrace fetch http" in said.err


def test_a_listing_that_breaks_off_is_taken_as_far_as_it_came(tmp_path):
    class Breaking(Handler):
        def answer(self, names, query):
            return b"no" if "startkey" in query else super().answer(names, query)

    sent = published(GOOD)
    server = Server({GOOD.id: dict(sent.document)}, {GOOD.id: sent.packed}, endless=True)
    server.RequestHandlerClass = Breaking
    done, peak_mib = measured(tmp_path, "fetch", server.url, "--store", f"sqlite:///{tmp_path}/races")
    assert done.returncode == 2
    assert f"fetched {GOOD.id}" in done.stdout
    assert "broke off: " in done.stderr and "does not list its documents" in done.stderr
    assert peak_mib < PEAK_MIB


def test_a_race_can_be_named_whatever_the_listing_is_and_the_beginning_of_an_id_cannot(tmp_path):
    sent = published(GOOD)
    server = Server({GOOD.id: dict(sent.document)}, {GOOD.id: sent.packed}, endless=True)
    store = f"sqlite:///{tmp_path}/races"
    assert f"fetched {GOOD.id}" in measured(tmp_path, "fetch", server.url, GOOD.id, "--store", store)[0].stdout
    done, peak_mib = measured(tmp_path, "fetch", server.url, "zzz", "--store", store)
    assert "was cut after 20000 documents; fetch any other race by its whole id" in done.stderr
    assert peak_mib < PEAK_MIB


def test_a_database_of_nothing_but_faults_is_left_after_a_hundred():
    asked = []

    class Faulty:
        address = "here"

        def get(self, identifier):
            asked.append(identifier)
            raise StoreError(f"no {identifier}")

    fetched = fetch(tuple(map(str, range(500))), Faulty(), lambda _: None, lambda _: None, named=False)
    assert len(asked) == 100
    assert fetched.troubles[-1] == "400 more were not tried after so many"


@pytest.mark.parametrize("reason", ["\x1b]0;owned\x07", "\x9b2J", "\u202e"])
def test_the_reasons_of_a_server_are_printed_as_text(tmp_path, reason):
    class Refusing(Handler):
        def answer(self, names, query):
            return json.dumps({"error": "no", "reason": f"so: {reason}"}, ensure_ascii=False).encode()

    server = Server({})
    server.RequestHandlerClass = Refusing
    done, _ = measured(tmp_path, "fetch", server.url, "--store", f"sqlite:///{tmp_path}/races")
    assert done.returncode == 2 and "so:" in done.stderr
    assert not set(reason) & set("\x1b\x07\x9b\u202e") & set(done.stderr)


def test_a_head_that_drips_is_given_up(monkeypatch):
    monkeypatch.setattr(couchdb, "_TIMEOUT_S", 0.5)
    over = threading.Event()

    class Dripping(BaseHTTPRequestHandler):
        def do_GET(self):
            with contextlib.suppress(OSError):
                while not over.wait(0.01):
                    self.wfile.write(b"x")

    with ThreadingHTTPServer(("127.0.0.1", 0), Dripping) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with pytest.raises(StoreError, match="does not answer in time"):
                couchdb.Database.at(f"http://127.0.0.1:{server.server_port}/races").open()
        finally:
            over.set()
            server.shutdown()
