"""race.toml, read and checked."""

import re

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.app.commands import display
from stackrace.base.errors import SpecError, StackError
from stackrace.race.request.race_file import read_race_file
from stackrace.stats.values import Question

FULL = """
[app]
django = "mysite.settings"
python = ".venv/bin/python"
root = "site"
static = { "/static/" = "staticfiles" }
prepare = ["python manage.py migrate --verbosity 0"]
services = ["postgresql"]
env = { SECRET_KEY = "x" }

[workload]
urls = ["/", "/items/?page=3"]
host = "shop.example.com"
headers = { Accept = "text/html" }

[load]
concurrency = [1, 20]
keep_alive = false
timeout = "5s"

[race]
question = "ranking"
difference = "3%"
budget = "20min"
slice = "2s"
seed = 7
cores = "0-2,5"
engine_cores = "7"
memory = "1.5GiB"
stacks = ["gunicorn"]
"""


def read(tmp_path, text, check=lambda path: None):
    path = tmp_path / "race.toml"
    path.write_text(text)
    return read_race_file(path, check)


def problems(tmp_path, text, check=lambda path: None):
    with pytest.raises(SpecError) as raised:
        read(tmp_path, text, check)
    return raised.value.message


def test_every_key_arrives_in_the_request(tmp_path):
    request = read(tmp_path, FULL)
    assert request.entry == Entry(kind=EntryKind.DJANGO, target="mysite.settings")
    assert request.folder == tmp_path / "site"
    assert request.python == tmp_path / "site" / ".venv" / "bin" / "python"
    assert request.static == {"/static/": tmp_path / "site" / "staticfiles"}
    assert request.prepare == (("python", "manage.py", "migrate", "--verbosity", "0"),)
    assert request.services == ("postgresql",)
    assert (request.cores, request.engine_cores) == ((0, 1, 2, 5), (7,))
    assert request.memory_bytes == 3 * 2**29
    assert request.environment == {"SECRET_KEY": "x"}
    assert request.urls == ("/", "/items/?page=3")
    assert (request.host, request.headers) == ("shop.example.com", (("Accept", "text/html"),))
    assert (request.concurrency, request.keep_alive, request.timeout_s) == ((1, 20), False, 5.0)
    assert (request.question, request.difference) == (Question.RANKING, 0.03)
    assert (request.budget_s, request.slice_s, request.seed) == (1200.0, 2.0, 7)
    assert request.stacks == ("gunicorn",)


def test_a_rack_app_may_name_its_ruby(tmp_path):
    request = read(tmp_path, '[app]\nrack = "config.ru"\nruby = "bin/ruby"\n')
    assert request.entry == Entry(kind=EntryKind.RACK, target="config.ru")
    assert (request.ruby, request.python) == (tmp_path / "bin" / "ruby", None)


def test_an_empty_file_leaves_everything_to_the_defaults(tmp_path):
    request = read(tmp_path, "")
    assert request.folder == tmp_path
    assert request.entry is request.urls is request.stacks is request.budget_s is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[race]\nbudgte = "1min"', "line 2: race.budgte: unknown key; did you mean budget?"),
        ("[load]\nconcurrency = 5", "line 2: load.concurrency"),
        ('[race]\ndifference = "120%"', "line 2: race.difference"),
        ('[workload]\nurls = ["items/"]', "line 2: workload.urls"),
        ('[workload]\nheaders = { host = "a" }', "give it as [workload] host"),
        ('[app]\ndjango = "a.b"\nwsgi = "a:b"', "give only one of django, wsgi"),
        ('[load]\nkeep_alive = "yes"', "line 2: load.keep_alive"),
    ],
)
def test_a_problem_names_its_line_its_key_and_the_way_out(tmp_path, text, words):
    assert words in problems(tmp_path, text)


def test_all_problems_come_at_once_illegal_stacks_among_them(tmp_path):
    def refuse(path):
        raise StackError(f"no {path}")

    message = problems(tmp_path, '[race]\nseed = -1\nstacks = [\n  "a",\n  "b",\n]\n', refuse)
    assert "3 problems" in message
    for words in ("line 2: race.seed", "line 4: race.stacks: no a", "line 5: race.stacks: no b"):
        assert words in message


def request(tmp_path, text):
    (tmp_path / "browse.har").write_text("{}")
    return read(tmp_path, text)


def test_a_recorded_session_is_found_beside_the_file(tmp_path):
    found = request(tmp_path, '[workload]\nsession = "browse.har"\nthink = true\n')
    assert (found.session, found.think, found.urls) == (tmp_path / "browse.har", True, None)
    assert not request(tmp_path, '[workload]\nsession = "browse.har"\n').think


SEVERAL = """
[workloads.static]
urls = ["/static/site.css"]
stacks = ["nginx/http/gunicorn"]

[workloads.browse]
session = "browse.har"

[race]
stacks = ["gunicorn", "nginx/http/gunicorn"]
exhaustive = true
"""


def test_several_workloads_keep_their_order_their_stacks_and_their_recordings(tmp_path):
    found = request(tmp_path, SEVERAL)
    static, browse = found.workloads
    assert (static.name, static.urls, static.session) == ("static", ("/static/site.css",), None)
    assert static.stacks == ("nginx/http/gunicorn",)
    assert (browse.name, browse.urls, browse.session) == ("browse", (), tmp_path / "browse.har")
    assert browse.stacks is None
    assert found.exhaustive
    assert found.urls is found.session is None


@pytest.mark.parametrize(
    ("length", "requests", "by_level", "seconds"),
    [
        ("requests = 500", 500, {}, None),
        ('requests = { "1" = 100, "20" = 1000 }', None, {1: 100, 20: 1000}, None),
        ('duration = "1min"', None, {}, 60.0),
    ],
)
def test_runs_have_a_length_and_a_number(tmp_path, length, requests, by_level, seconds):
    found = request(tmp_path, f"[load]\nconcurrency = [1, 20]\n{length}\n[race]\nrepeats = 5\n")
    assert (found.repeats, found.run_requests, found.run_requests_at) == (5, requests, by_level)
    assert found.run_s == seconds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[workload]\nurls = ["/"]\nsession = "browse.har"', "line 1: workload: give urls or session, not both"),
        ("[workload]\nthink = true", "line 1: workload: think keeps the pauses of a recording"),
        ('[workload]\nsession = "gone.har"', "line 2: workload.session: there is no recording 'gone.har'"),
        ('[workload]\nurls = ["/"]\n[workloads.a]\nurls = ["/"]', "line 1: workload: give one [workload], or"),
        ("[workloads.a]\nthink = false", "line 1: workloads.a: give it urls or session"),
        ("[workloads]", "line 1: workloads"),
        ('[workloads."a b"]\nurls = ["/"]', "line 1: workloads.a b"),
        ('[workloads.a]\nurls = ["/"]\nurl = "/"', "line 3: workloads.a.url: unknown key; did you mean urls?"),
        ('[workloads.a]\nurls = ["x"]', "line 2: workloads.a.urls"),
        ('[workloads.a]\nurls = ["/"]\nstacks = ["x"]', "line 3: workloads.a.stacks: name the stacks of the race"),
        (
            '[workloads.a]\nurls = ["/"]\nstacks = ["x"]\n[race]\nstacks = ["y"]',
            "line 3: workloads.a.stacks: 'x' is not among [race] stacks",
        ),
        (
            '[workloads.a]\nurls = ["/"]\nstacks = ["x"]\n[race]\nstacks = ["x", "y"]',
            "line 5: race.stacks: no workload has 'y'",
        ),
        ("[load]\nrequests = 5", "line 2: load.requests: is the length of a run; give the number of runs"),
        ('[load]\nduration = "1s"', "line 2: load.duration: is the length of a run; give the number of runs"),
        ("[race]\nrepeats = 5", "line 2: race.repeats: say how long each run is"),
        ("[race]\nrepeats = 0", "line 2: race.repeats"),
        ("[race]\nrepeats = true", "line 2: race.repeats"),
        ('[load]\nrequests = 5\nduration = "1s"\n[race]\nrepeats = 1', "line 1: load: give requests or duration"),
        (
            '[load]\nrequests = 5\n[race]\nrepeats = 1\nslice = "1s"',
            "line 5: race.slice: [race] repeats measures runs",
        ),
        ("[load]\nrequests = 0\n[race]\nrepeats = 1", "line 2: load.requests: is no number of requests"),
        ("[load]\nrequests = true\n[race]\nrepeats = 1", "line 2: load.requests: is no number of requests"),
        ('[load]\nrequests = "5"\n[race]\nrepeats = 1', "line 2: load.requests: is no number of requests"),
        ("[load]\nrequests = {}\n[race]\nrepeats = 1", "line 2: load.requests: is no number of requests"),
        ("[load]\nrequests = { a = 1 }\n[race]\nrepeats = 1", "line 2: load.requests: the keys must be numbers"),
        ('[load]\nrequests = { "1" = -1 }\n[race]\nrepeats = 1', "line 2: load.requests: is no number"),
        (
            '[load]\nrequests = { "1" = 5 }\n[race]\nrepeats = 1',
            "line 2: load.requests: has a number for each concurrency",
        ),
        (
            '[load]\nconcurrency = [1]\nrequests = { "1" = 5, "2" = 5 }\n[race]\nrepeats = 1',
            "line 3: load.requests: 2 is not among [load] concurrency",
        ),
        (
            '[load]\nconcurrency = [1, 2]\nrequests = { "1" = 5 }\n[race]\nrepeats = 1',
            "line 3: load.requests: has no number for 2 connections",
        ),
    ],
)
def test_contradictions_name_their_line_their_key_and_the_way_out(tmp_path, text, words):
    (tmp_path / "browse.har").write_text("{}")
    assert words in problems(tmp_path, text)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ('memory = "8MiB"', "line 2: race.memory"),
        ('memory = "much"', "write it like 512MiB"),
        ('cores = "3-1"', "write it like 0-3 or 0,2,4-6"),
        ("cores = 2", "write it like"),
        ('cores = "0-3"\nengine_cores = "3"', "race.engine_cores: core 3 is also in [race] cores"),
    ],
)
def test_budgets_that_cannot_be_are_refused(tmp_path, key, words):
    assert words in problems(tmp_path, f"[race]\n{key}\n")


def test_a_cpu_quota_may_be_declared(tmp_path):
    assert read(tmp_path, "[race]\nquota = true\n").quota
    assert not read(tmp_path, "[race]\n").quota


def test_memory_is_binary_or_decimal(tmp_path):
    assert read(tmp_path, '[race]\nmemory = "512MB"\n').memory_bytes == 512_000_000
    assert read(tmp_path, '[race]\nmemory = "512MiB"\n').memory_bytes == 512 * 2**20


@pytest.mark.parametrize("prefix", ['/x\\" { return 200 injected; } location \\"/y/', "/a$b/", "/%/", "/", "a/"])
def test_a_prefix_that_no_server_could_be_given_is_refused_with_its_line(prefix, tmp_path):
    file = tmp_path / "race.toml"
    file.write_text(f'[app]\nstatic = {{ "{prefix}" = "files" }}\n')
    with pytest.raises(SpecError, match=r"line 2: app\.static: .*(prefix may have|must start|% without)"):
        read_race_file(file, lambda stack: None)


def test_files_with_variables_are_named_one_or_several(tmp_path):
    (tmp_path / ".env").touch()
    (tmp_path / "more.env").touch()
    assert read(tmp_path, '[app]\nenv_file = ".env"\n').env_files == (tmp_path / ".env",)
    assert read(tmp_path, '[app]\nenv_file = [".env", "more.env"]\n').env_files[1] == tmp_path / "more.env"
    assert read(tmp_path, '[app]\nprotect = "data"\n').protect == (tmp_path / "data",)
    assert read(tmp_path, '[app]\ncopy_limit = "4GiB"\n').most_copied_bytes == 2**32
    assert read(tmp_path, "[app]\ncopy_limit = 0\n").most_copied_bytes == 0
    with pytest.raises(SpecError, match=r"line 2: app\.env_file: there is no file 'no\.env'"):
        read(tmp_path, '[app]\nenv_file = "no.env"\n')


PREPARED = """
[app]
prepare = [
    "python manage.py migrate",
    {entry},
]
"""


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('"psql < dump.sql"', r'app.prepare.1: < in .*\{ run = "psql < dump.sql", shell = true \}'),
        ('"echo \'open"', "app.prepare.1: no closing quotation"),
        ('{ run = "echo \'open", shell = true }', "app.prepare.1: no closing quotation"),
    ],
)
def test_a_wrong_command_is_refused_at_its_own_line(tmp_path, entry, words):
    message = problems(tmp_path, PREPARED.replace("{entry}", entry))
    assert "has 1 problem" in message
    assert re.search(f"line 5: {words}", message)


def test_a_command_may_be_a_line_for_a_shell(tmp_path):
    request = read(tmp_path, PREPARED.replace("{entry}", '{ run = "psql < dump.sql", shell = true }'))
    assert [display(command) for command in request.prepare] == ["python manage.py migrate", "psql < dump.sql"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (r'env = { "" = "x" }', "app.env.*: is no name of a variable"),
        (r'env = { "A=B" = "x" }', "app.env.A=B.*: is no name of a variable"),
        (r'env = { A = "x\u0000y" }', "app.env.A: has a NUL"),
        (r'env = { "A\u0000" = "x" }', "app.env: has a NUL"),
        (r'prepare = ["true", "echo a\u0000b"]', "app.prepare: has a NUL"),
        (r'static = { "/s/" = "a\u0000b" }', "app.static./s/: has a NUL"),
        (r'root = "a\u0000b"', "app.root: has a NUL"),
        (r'python = "a\u0000b"', "app.python: has a NUL"),
    ],
)
def test_what_no_process_could_be_given_is_refused_with_its_line(line, message, tmp_path):
    file = tmp_path / "race.toml"
    file.write_text(f"[app]\n{line}\n")
    with pytest.raises(SpecError, match=f"line 2: {message}"):
        read_race_file(file, lambda stack: None)


def test_a_variable_may_hold_anything_else(tmp_path):
    file = tmp_path / "race.toml"
    file.write_text('[app]\nenv = { A = "a\\nb $HOME %d \'c\' ä", "a b.c" = "" }\n')
    assert read_race_file(file, lambda stack: None).environment == {"A": "a\nb $HOME %d 'c' ä", "a b.c": ""}
