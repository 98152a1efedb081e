"""The bundled Django app's pages: the same on every database, in every server, and at the cost they claim."""

import base64
import json
from contextlib import ExitStack
from dataclasses import replace
from functools import cache

import pytest
from tests.integration.django_site import ASK, OURS, site
from tests.unprotected import examine

from stackrace.app.app import EntryKind, entry_of
from stackrace.app.environment import app_environment
from stackrace.app.golden import golden
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.guard import Guard
from stackrace.deploy.launcher import Launcher
from stackrace.deploy.rendering import hosted
from stackrace.deploy.shutdown import stop
from stackrace.features.recordings.recorded_sessions import read_recording
from stackrace.measure.workload import Request, Sameness
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

DATABASES = ("sqlite", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("postgresql", "mariadb")))

QUERIES = {
    "/": 0,
    "/hello/": 0,
    "/ctime/": 0,
    "/ten-kilobytes/": 0,
    "/random-row/": 1,
    "/fifteen-queries/": 15,
    "/static/pages/site.css": 0,
    "/browse/": 5,
    "/browse/books/": 3,
    "/browse/books/?after=100001": 3,
    "/browse/books/?before=100000": 3,
    "/browse/books/?last=1": 3,
    "/browse/books/123456/": 3,
    "/browse/publishers/": 2,
    "/browse/publishers/1234/": 3,
    "/browse/publishers/1234/?last=1": 3,
    "/browse/loans/": 3,
    "/browse/loans/?after=450000": 3,
    "/browse/loans/?last=1": 3,
    "/static/library/library.css": 0,
    "/static/library/library.js": 0,
    "/static/library/bookplate.png": 0,
    "/json/": 0,
    "/plaintext/": 0,
    "/db/": 1,
    "/queries/?queries=20": 20,
    "/queries/?queries=none": 1,
    "/fortunes/": 1,
    # 20 rows read, and one statement in a transaction of its own to write them
    "/updates/?queries=20": 23,
}
NO_PAGES = (
    "/browse/books/?after=1",
    "/browse/books/?before=200000",
    "/browse/books/?after=-1",
    "/browse/books/?after=" + "9" * 30,
    "/browse/books/0/",
    "/browse/books/99999999999999999999/",
)
VARYING = {
    "/ctime/",
    "/random-row/",
    "/db/",
    "/queries/?queries=20",
    "/queries/?queries=none",
    "/updates/?queries=20",
}


@pytest.fixture(scope="module")
def sites():
    """Sites by database, each migrated and seeded when first asked for."""
    made = {}
    with ExitStack() as running:

        def of(database):
            if database not in made:
                made[database] = site(database, running.enter_context(Guard()))
                done = made[database].seed("browse", "world")
                assert done.returncode == 0, done.stderr
                assert done.stdout == "browse is seeded\nworld is seeded\n"
            return made[database]

        yield of


@cache
def ask(asked):
    """Return status, queries, media type and body (base64) by path."""
    return asked.tell(ASK, text=json.dumps([*QUERIES, *NO_PAGES]))


@cache
def examined(asked):
    """Return what its pages answer, examined once for all servers."""
    return examine(asked.app, [Request(path=page) for page in OURS.pages])


@pytest.mark.exhaustive
@pytest.mark.parametrize("database", DATABASES)
def test_every_page_costs_the_queries_it_claims(database, sites):
    answers = ask(sites(database))
    assert {path: answers[path][1] for path in QUERIES} == QUERIES
    assert {answers[path][0] for path in QUERIES} == {200}
    assert {answers[path][0] for path in NO_PAGES} == {404}


@pytest.mark.parametrize("database", DATABASES[1:])
def test_every_database_makes_the_same_pages(database, sites):
    ours, theirs = ask(sites("sqlite")), ask(sites(database))
    fixed = [path for path in QUERIES if path not in VARYING]
    assert {path: theirs[path] for path in fixed} == {path: ours[path] for path in fixed}


@pytest.mark.exhaustive
@pytest.mark.parametrize("database", DATABASES)
def test_there_are_more_than_a_million_rows_with_their_keys_and_no_second_seeding(database, sites):
    seeded = sites(database)
    rows, kept = seeded.state
    expected = {"library_publisher": 2_000, "library_book": 200_000, "library_loan": 900_000}
    assert expected.items() <= rows.items()
    assert (rows["world"], rows["fortune"], rows["seeding_seeded"]) == (10_000, 12, 2)
    assert ["book_id"] in kept["library_loan"]
    assert ["book_id", "id"] in kept["library_loan"]
    assert ["publisher_id"] in kept["library_book"]
    assert seeded.seed("world", "browse").stdout == "world was seeded before\nbrowse was seeded before\n"
    assert seeded.state == [rows, kept]


@pytest.mark.exhaustive
def test_the_list_of_pages_is_complete(sites):
    assert set(OURS.pages) <= set(QUERIES)
    index = ask(sites("sqlite"))["/"]
    for start in {path.partition("?")[0] for path in OURS.pages if not path.startswith(("/static/", "/browse/"))}:
        assert f'href="{start}'.encode() in base64.b64decode(index[3])


def test_the_six_tests_answer_as_their_requirements_ask(sites):
    answers = {path: base64.b64decode(answer[3]) for path, answer in ask(sites("postgresql")).items()}
    assert json.loads(answers["/json/"]) == {"message": "Hello, World!"}
    assert answers["/plaintext/"] == b"Hello, World!"
    assert json.loads(answers["/db/"]).keys() == {"id", "randomNumber"}
    for path in ("/queries/?queries=20", "/updates/?queries=20"):
        assert len({row["id"] for row in json.loads(answers[path])}) == 20
        assert all(1 <= row["randomNumber"] <= 10_000 for row in json.loads(answers[path]))
    assert len(json.loads(answers["/queries/?queries=none"])) == 1
    fortunes = answers["/fortunes/"].decode()
    assert fortunes.count("<tr><td>") == 13
    assert "<script>" not in fortunes
    assert fortunes.index("<td>0</td><td>Additional fortune") > fortunes.index("A deadlock")


def test_the_recorded_session_is_answered_as_recorded(sites):
    workload = read_recording(OURS.sessions["browse"]).workload
    recorded = dict(zip((request.path for request in workload.requests), workload.answers, strict=True))
    exchanges = examine(sites("sqlite").app, [Request(path=path) for path in recorded]).exchanges
    assert {one.request.path: one.first.status for one in exchanges} == {
        path: answer.status for path, answer in recorded.items()
    }


@pytest.mark.exhaustive
def test_asgi_answers_the_same(sites):
    wsgi = sites("sqlite").app
    extra = {"DJANGO_SETTINGS_MODULE": "sample.settings"}
    asgi = replace(
        wsgi, entry=entry_of(EntryKind.ASGI, "sample.asgi:application"), environment={**wsgi.environment, **extra}
    )
    requests = [Request(path=path) for path in OURS.pages]
    one, other = golden(examined(sites("sqlite"))), golden(examine(asgi, requests))
    for request, here, there in zip(requests, one.answers, other.answers, strict=True):
        assert there.sameness is here.sameness, request.path
        assert there.status == here.status
        assert there.body == here.body or request.path in VARYING, request.path


def test_where_lengths_vary_the_size_counts(sites):
    paths = ("/db/", "/queries/?queries=20", "/updates/?queries=20")
    answers = golden(examine(sites("sqlite").app, [Request(path=path) for path in paths])).answers
    assert {answer.sameness for answer in answers} == {Sameness.SIZE}


@pytest.mark.parametrize(
    ("database", "path"),
    [
        ("postgresql", "gunicorn:workers=2,class=gthread,threads=4"),
        ("postgresql", "uvicorn:workers=2"),
        pytest.param("mariadb", "uvicorn:workers=2", marks=pytest.mark.exhaustive),
    ],
)
def test_all_pages_pass_on_real_servers(database, path, sites):
    served = sites(database)
    examination = examined(served)
    stack = parse_stack(path, catalogue().specs, frozenset({Interface.WSGI, Interface.ASGI}))
    needed = sorted(r for hop in stack.hops for r in catalogue().entries[hop.server].requirements(hop.settings))
    home = Environments(cache_folder(), lambda _: None).layered(examination.python, needed)
    with Guard() as guard:
        launcher = Launcher(
            guard=guard,
            catalogue=catalogue(),
            host_for=lambda stack: hosted(
                served.app,
                stack.interface,
                home=home,
                folder=guard.directory,
                app_packages=examination.python.site_packages,
            ),
            environment=app_environment(served.app),
            workloads_for=lambda _: (golden(examination),),
            cores=(),
        )
        running = launcher.launch(stack, timeout_s=60)
        assert launcher.failure_of(running) is None
        assert stop(guard, [running]) == {}
