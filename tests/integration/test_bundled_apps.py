"""The ladder and the Rails app with real services: every page, the mix's shares, the caches and their sweeper."""

import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tests.services import start_services
from tests.unprotected import examine

from stackrace.app.bundle import bundled
from stackrace.app.environment import app_environment
from stackrace.app.golden import golden
from stackrace.base.errors import AppError, InputError
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.confinement import current_group
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.guard import Guard
from stackrace.deploy.privileges import hand_over, unprivileged
from stackrace.deploy.seeding import prepare
from stackrace.measure.workload import Request, Sameness
from stackrace.stacks.services import services

READY_S = 1800


@pytest.fixture(scope="module")
def guard():
    with Guard() as running:
        # as in a race: Puma ends a worker that got no core for a minute beside the stacks of other tests
        running.prioritise(current_group())
        yield running
    assert not running.directory.exists()


@pytest.fixture(scope="module")
def beside(guard):
    """The variables that lead to a MariaDB and a memcached of our own."""
    needed = ("mariadb", "memcached")
    for name in needed:
        if missing := services()[name].missing():
            pytest.skip(f"{name}: {missing}")
    return start_services(needed, guard, cores=()).environment


def folder(guard, name):
    made = guard.directory / name
    made.mkdir()
    hand_over(made)
    return made


def sql(beside, statement):
    """Return the rows of a statement, sent as root through the database's own client."""
    where = beside["MARIADB_SOCKET"]
    done = subprocess.run(
        ["mariadb", "--no-defaults", f"--socket={where}", "-u", "root", "-N", "-B", "app", "-e", statement],
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


def memcached_says(path, command):
    """Return the words of each line that memcached answers with, up to END."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(f"{command}\r\n".encode())
        with connection.makefile("rb") as lines:
            return [line.decode("latin-1").split() for line in iter(lines.readline, b"END\r\n")]


def statistic(path, name):
    return next(int(words[2]) for words in memcached_says(path, "stats") if words[1] == name)


# The ladder


@pytest.fixture(scope="module")
def ladder(guard, beside):
    """The ladder in an environment of its own, prepared twice: the second time must change nothing."""
    ours = bundled("ladder")
    if item := ours.missing_item():
        pytest.skip(f"{item.words} is missing")
    try:
        python = Environments(cache_folder(), lambda _: None).of_requirements(
            ours.requirements(ours.services), Path(sys._base_executable), UNPROTECTED
        )
    except InputError as error:
        pytest.skip(str(error))
    app = ours.app(python=python, data=folder(guard, "ladder-data"))
    own = {"PYTHONPYCACHEPREFIX": str(cache_folder() / "pycache")}
    app = replace(app, environment={**app.environment, **own, **beside})
    prepare(app, guard)
    prepare(app, guard)
    return app


def in_its_python(ladder, code):
    """Run code in the ladder's own interpreter and folder; what it prints is JSON."""
    done = subprocess.run(
        [str(ladder.python), "-c", code],
        cwd=ladder.root,
        env=app_environment(ladder),
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.exhaustive
def test_every_rung_answers_the_same_bytes(ladder):
    workload = golden(examine(ladder, [Request(path=page) for page in bundled("ladder").pages]))
    assert {answer.body for answer in workload.answers} == {b"Hello world!\n"}
    assert {(answer.status, answer.content_type) for answer in workload.answers} == {(200, "text/plain")}
    assert {answer.sameness for answer in workload.answers} == {Sameness.BODY}


def test_preparing_twice_leaves_one_row(ladder, beside):
    assert sql(beside, "SELECT * FROM lookup") == [["1", "Hello world!"]]
    engine = "SELECT engine FROM information_schema.tables WHERE table_schema='app' AND table_name='lookup'"
    assert sql(beside, engine) == [["InnoDB"]]


def test_the_mix_is_nine_parts_memcached_and_one_part_orm(ladder, beside):
    def counted():
        lookups = sql(beside, "SHOW GLOBAL STATUS LIKE 'Handler_read_key'")[0][1]
        return int(lookups), statistic(beside["MEMCACHED_SOCKET"], "get_hits")

    read, hit = counted()
    in_its_python(
        ladder,
        "from concurrent.futures import ThreadPoolExecutor as P; from ladder.rungs.mix import lookup\n"
        "with P(4) as pool: print(len(list(pool.map(lambda _: lookup(), range(200)))))",
    )
    read_after, hit_after = counted()
    assert hit_after - hit == 180
    assert read_after - read == 20


def test_threads_climb_together_and_keep_their_connections(ladder):
    found = in_its_python(
        ladder,
        """
import json
from concurrent.futures import ThreadPoolExecutor
import ladder.rungs.mysqldb as mysqldb
from ladder.wsgi import LOOKUPS

def connections():
    with connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Connections'")
        return int(cursor.fetchone()[1])

connection = mysqldb.connect()
before = connections()
with ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(lambda path: LOOKUPS[path](), [*LOOKUPS] * 100))
print(json.dumps([sorted(set(answers)), len(answers), connections() - before]))
""",
    )
    assert found[:2] == [["Hello world!"], 700]
    assert 3 <= found[2] <= 3 * 8


def test_a_rung_without_its_value_fails_instead_of_going_another_way(ladder, guard):
    found = in_its_python(
        ladder,
        """
import json, ladder.rungs.memcached as memcached
from ladder.errors import LadderError
from ladder.wsgi import LOOKUPS
memcached.client().delete("1")
try:
    LOOKUPS["/memcached/"]()
except LadderError as error:
    print(json.dumps(str(error)))
""",
    )
    prepare(ladder, guard)
    assert "holds no value under the key; run python -m ladder.prepare" in found


def test_memcached_may_have_been_started_again_since_the_preparation(ladder, beside):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(beside["MEMCACHED_SOCKET"])
        connection.sendall(b"flush_all\r\n")
        assert connection.recv(4) == b"OK\r\n"
    look = "import json; from ladder.wsgi import LOOKUPS; print(json.dumps(LOOKUPS['/memcached/']()))"
    assert in_its_python(ladder, look) == "Hello world!"


def test_preparing_without_a_service_names_it(ladder, guard):
    alone = {name: value for name, value in ladder.environment.items() if name != "DATABASE_URL"}
    with pytest.raises(AppError, match="DATABASE_URL is not set"):
        prepare(replace(ladder, environment=alone), guard)


# The Rails app


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=1800)
        self._path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


@dataclass(frozen=True)
class Site:
    """A running puma, and the folder that its app writes to."""

    socket: Path
    data: Path

    def ask(self, path, method="GET", **form):
        """Return status, headers and the body as text."""
        connection = UnixConnection(self.socket)
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
        try:
            connection.request(method, path, urlencode(form) or None, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read().decode()
        finally:
            connection.close()

    def listens(self):
        """Tell whether it does: a socket is there before anybody listens at it."""
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(str(self.socket)) == 0

    def page(self, path):
        """Return the body of a page that must be there."""
        status, _, body = self.ask(path)
        assert status == 200, body
        return body

    def cached(self, path):
        """Return the file of a cached page."""
        return self.data / "public" / f"{path.strip('/')}.html"


def serve(guard, name, environment, *workers):
    """Prepare the Rails app, twice, and start puma with it on a unix socket; the guard ends it."""
    ours = bundled("rails")
    if item := ours.missing_item():
        pytest.skip(f"{item.words} is missing")
    if shutil.which("puma") is None:
        pytest.skip("puma is not installed")
    data = folder(guard, name)
    app = ours.app(python=Path(sys.executable), data=data)
    app = replace(app, environment={**app.environment, **environment})
    try:
        prepare(app, guard)
    except AppError as error:
        if "run: apt-get install" in error.detail:
            pytest.skip(error.detail)
        raise
    prepare(app, guard)
    site = Site(socket=data / "socket", data=data)
    log = data / "puma.log"
    pid = guard.spawn(
        [
            *unprivileged(),
            "puma",
            "-C",
            "-",
            "-e",
            "production",
            "-t",
            "1:16",
            *workers,
            "-b",
            f"unix://{site.socket}",
        ],
        view=UNPROTECTED,
        environment=app_environment(app),
        folder=app.root,
        log=log,
        stop=signal.SIGTERM,
    )
    deadline = time.monotonic() + READY_S
    while not site.listens():
        ended = guard.status([pid])[pid].code is not None
        assert not ended and time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    return site


@pytest.fixture(scope="module")
def alone(guard):
    """The Rails app without any service."""
    return serve(guard, "alone", {"DATABASE_URL": "", "MEMCACHED_SOCKET": ""})


@pytest.fixture(scope="module")
def second_memcached():
    with Guard() as another:
        yield start_services(["memcached"], another, cores=()).environment["MEMCACHED_SOCKET"]


@pytest.fixture(scope="module")
def sockets(beside, second_memcached):
    return beside["MEMCACHED_SOCKET"], second_memcached


@pytest.fixture(scope="module")
def rails(guard, beside, sockets):
    """The Rails app with MariaDB and two memcached servers, as in the published comparison; forked once loaded."""
    return serve(guard, "rails", {**beside, "MEMCACHED_SOCKET_2": sockets[1]}, "-w", "2", "--preload")


@pytest.mark.exhaustive
def test_pages_without_a_service_need_none(alone):
    for path in bundled("rails").urls:
        assert "Hello world!" in alone.page(path)


@pytest.mark.parametrize(("path", "service"), [("/mysql/1", "mariadb"), ("/memcached/1", "memcached")])
def test_a_page_whose_service_is_missing_says_which(alone, path, service):
    status, _, body = alone.ask(path)
    assert status == 503
    assert f'add "{service}" to [app] services' in body


@pytest.mark.exhaustive
def test_every_page_says_the_same_each_time(rails):
    pages = {path: rails.page(path) for path in bundled("rails").pages}
    assert pages == {path: rails.page(path) for path in bundled("rails").pages}
    assert all("<p>Hello world!</p>" in body and body.rstrip().endswith("</html>") for body in pages.values())
    assert pages["/mysql/1"] == pages["/sqlite/1"] == pages["/cached/1"] == pages["/memcached/1"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "path", ["/sqlite/9999", "/sqlite/01", "/sqlite/1.json", "/sqlite/1x", "/cached/0", "/nope"]
)
def test_there_is_one_name_for_each_page(rails, path):
    assert rails.ask(path)[0] == 404
    assert not rails.cached(path).exists()


@pytest.mark.exhaustive
def test_many_at_once_share_the_pools(rails):
    paths = ["/mysql/1", "/sqlite/1", "/memcached/1", "/plain/"] * 25
    with ThreadPoolExecutor(16) as pool:
        assert all("Hello world!" in body for body in pool.map(rails.page, paths))


def test_a_cached_page_is_a_file_that_is_served_in_the_apps_place(alone):
    body = alone.page("/cached/1")
    file = alone.cached("/cached/1")
    assert file.read_text() == body
    file.write_text("from the file")
    try:
        assert alone.page("/cached/1") == "from the file"
    finally:
        file.unlink()
    assert alone.page("/cached/1") == body


@pytest.mark.parametrize(
    "path", ["/cached/../log/production", "/cached/%2e%2e/cached", "/cached/1/../../x", "/cached/1/x"]
)
def test_only_pages_are_served_from_the_cache(alone, path):
    alone.page("/cached/1")
    (alone.data / "x.html").write_text("not for anybody")
    assert alone.ask(path)[0] == 404
    assert alone.ask("/cached/1", "HEAD")[::2] == (200, "")


def test_the_sweeper_takes_away_what_was_created_updated_or_destroyed(rails):
    assert "Fresh" not in rails.page("/cached/")
    assert rails.cached("/cached").exists()

    status, headers, _ = rails.ask("/cached", "POST", title="Fresh", body="The first text")
    path = headers["Location"]
    assert status == 201
    assert not rails.cached("/cached").exists()
    assert f'href="{path}"' in rails.page("/cached/")

    assert "The first text" in rails.page(path)
    assert rails.cached(path).exists()
    assert rails.ask(path, "PATCH", body="The second text")[0] == 200
    assert not rails.cached(path).exists()
    assert not rails.cached("/cached").exists()
    assert "The second text" in rails.page(path)
    assert "Fresh" in rails.page("/cached/")

    assert rails.ask(path, "DELETE")[0] == 204
    assert not rails.cached(path).exists()
    assert rails.ask(path)[0] == 404
    assert not rails.cached(path).exists()
    assert "Fresh" not in rails.page("/cached/")


def test_a_refused_change_sweeps_nothing(rails):
    rails.page("/cached/")
    status, _, body = rails.ask("/cached", "POST", title="Without a body")
    assert (status, body) == (422, "Body can't be blank\n")
    assert rails.cached("/cached").exists()


def test_what_a_visitor_writes_stays_text(rails):
    path = rails.ask("/cached", "POST", title="<b>", body="<script>")[1]["Location"]
    assert "&lt;b&gt;" in rails.page(path)
    assert "<script>" not in rails.page(path)
    assert rails.ask(path, "DELETE")[0] == 204


def test_memcached_holds_the_page_in_its_namespace_until_it_is_swept(rails, sockets):
    path = rails.ask("/cached", "POST", title="Kept", body="Before")[1]["Location"].replace("cached", "memcached")
    assert "Before" in rails.page(path)
    number = path.rpartition("/")[2]
    (holder,) = [server for server in sockets if memcached_says(server, f"get stackrace:pages/{number}")]
    assert rails.ask(path.replace("memcached", "cached"), "PATCH", body="After")[0] == 200
    assert not memcached_says(holder, f"get stackrace:pages/{number}")
    assert "After" in rails.page(path)
    assert rails.ask(path.replace("memcached", "cached"), "DELETE")[0] == 204
    assert rails.ask(path)[0] == 404


def test_pages_are_spread_over_both_memcached_servers(rails, sockets):
    made = [rails.ask("/cached", "POST", title="Spread", body="x")[1]["Location"] for _ in range(24)]
    for path in made:
        rails.page(path.replace("cached", "memcached"))
    wanted = {f"stackrace:pages/{path.rpartition('/')[2]}" for path in made}
    held = [{key for key in wanted if memcached_says(server, f"get {key}")} for server in sockets]
    assert held[0] | held[1] == wanted
    assert held[0] and held[1] and not held[0] & held[1]
    for path in made:
        assert rails.ask(path, "DELETE")[0] == 204


def test_nobody_sees_half_a_cached_page(rails):
    path = rails.ask("/cached", "POST", title="Torn", body="x" * 9_000)[1]["Location"]
    with ThreadPoolExecutor(5) as pool:
        changing = pool.submit(lambda: [rails.ask(path, "PATCH", title=f"Torn {turn}")[0] for turn in range(40)])
        bodies = list(pool.map(rails.page, [path] * 160))
    assert set(changing.result()) == {200}
    assert all(body.rstrip().endswith("</html>") for body in bodies)
    assert rails.ask(path, "DELETE")[0] == 204
    assert [file.name for file in rails.cached(path).parent.iterdir() if file.suffix != ".html"] == []


def test_a_page_that_is_read_while_others_change_is_served(rails):
    """Threads of one process that wait for SQLite's lock let the one that holds it go on."""
    paths = [rails.ask("/cached", "POST", title="Busy", body="x" * 9_000)[1]["Location"] for _ in range(4)]
    with ThreadPoolExecutor(16) as pool:
        changing = [
            pool.submit(lambda path=path: [rails.ask(path, "PATCH", title=str(turn))[0] for turn in range(20)])
            for path in paths
        ]
        read = list(pool.map(lambda path: rails.ask(path.replace("cached", "sqlite"))[0], paths * 40))
    assert {status for each in changing for status in each.result()} == set(read) == {200}
    assert {rails.ask(path, "DELETE")[0] for path in paths} == {204}


def test_all_that_is_written_lies_in_the_data_folder(alone, rails, ladder):
    code = {".rb", ".ru", ".erb", ".yml", ".txt", ".py"}
    for name in ("rails", "ladder"):
        files = [file for file in bundled(name).root.rglob("*") if file.is_file()]
        assert {file.suffix for file in files if file.parent.name != "__pycache__"} <= code
    for site in (alone, rails):
        assert {entry.name for entry in site.data.iterdir()} >= {"log", "public", "pages.sqlite3"}
        assert [entry.name for entry in (site.data / "log").iterdir()] == ["production.log"]
