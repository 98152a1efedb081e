"""race.toml, read: every key arrives in the request."""

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.app.command_lines import display
from stackrace.base.errors import StackError
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
silent = 4
idle = 200

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


def test_every_key_arrives_in_the_request(read, tmp_path):
    request = read(FULL)
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
    assert (request.silent, request.idle) == (4, 200)
    assert (request.question, request.difference) == (Question.RANKING, 0.03)
    assert (request.budget_s, request.slice_s, request.seed) == (1200.0, 2.0, 7)
    assert request.stacks == ("gunicorn",)


def test_an_empty_file_leaves_everything_to_the_defaults(read, tmp_path):
    request = read("")
    assert request.folder == tmp_path
    assert request.entry is request.urls is request.stacks is request.budget_s is None


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("[race]\nquota = true", "quota", True),
        ("[race]", "quota", False),
        ('[race]\nmemory = "512MB"', "memory_bytes", 512_000_000),
        ('[race]\nmemory = "512MiB"', "memory_bytes", 512 * 2**20),
        ('[app]\ncopy_limit = "4GiB"', "most_copied_bytes", 2**32),
        ("[app]\ncopy_limit = 0", "most_copied_bytes", 0),
        ('[app]\nrack = "config.ru"', "entry", Entry(kind=EntryKind.RACK, target="config.ru")),
        ('[app]\nenv = { A = "a\\nb $HOME %d \'c\' ä", "a b.c" = "" }', "environment",
         {"A": "a\nb $HOME %d 'c' ä", "a b.c": ""}),
    ],
)  # fmt: skip
def test_a_value_arrives_as_it_is_written(read, text, field, value):
    assert getattr(read(text), field) == value


@pytest.mark.parametrize(
    ("text", "field", "names"),
    [
        ('[app]\nrack = "config.ru"\nruby = "bin/ruby"', "ruby", "bin/ruby"),
        ('[app]\nenv_file = ".env"', "env_files", (".env",)),
        ('[app]\nenv_file = [".env", "more.env"]', "env_files", (".env", "more.env")),
        ('[app]\nprotect = "data"', "protect", ("data",)),
        ('[workload]\nsession = "browse.har"', "session", "browse.har"),
    ],
)
def test_a_file_is_found_beside_the_race_file(read, tmp_path, text, field, names):
    for name in (".env", "more.env", "browse.har"):
        (tmp_path / name).write_text("{}")
    is_one = isinstance(names, str)
    assert getattr(read(text), field) == (tmp_path / names if is_one else tuple(tmp_path / name for name in names))


def test_pauses_of_a_recording_are_kept_where_that_is_asked_for(read, tmp_path):
    (tmp_path / "browse.har").write_text("{}")
    found = read('[workload]\nsession = "browse.har"\nthink = true\n')
    assert (found.think, found.urls) == (True, None)
    assert not read('[workload]\nsession = "browse.har"\n').think


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


def test_several_workloads_keep_their_order_their_stacks_and_their_recordings(read, tmp_path):
    (tmp_path / "browse.har").write_text("{}")
    found = read(SEVERAL)
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
def test_runs_have_a_length_and_a_number(read, length, requests, by_level, seconds):
    found = read(f"[load]\nconcurrency = [1, 20]\n{length}\n[race]\nrepeats = 5\n")
    assert (found.repeats, found.run_requests, found.run_requests_at) == (5, requests, by_level)
    assert found.run_s == seconds


def test_all_problems_come_at_once_illegal_stacks_among_them(problems):
    def refuse(path):
        raise StackError(f"no {path}")

    message = problems('[race]\nseed = -1\nstacks = [\n  "a",\n  "b",\n]\n', refuse)
    assert "3 problems" in message
    for words in ("line 2: race.seed", "line 4: race.stacks: no a", "line 5: race.stacks: no b"):
        assert words in message


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
        ('"psql < dump.sql"', "app.prepare.1: < in "),
        ('"echo \'open"', "app.prepare.1: no closing quotation"),
        ('{ run = "echo \'open", shell = true }', "app.prepare.1: no closing quotation"),
    ],
)
def test_a_wrong_command_is_refused_at_its_own_line(problems, entry, words):
    message = problems(PREPARED.replace("{entry}", entry))
    assert "has 1 problem" in message
    assert f"line 5: {words}" in message
    assert "psql" not in entry or '{ run = "psql < dump.sql", shell = true }' in message


def test_a_command_may_be_a_line_for_a_shell(read):
    request = read(PREPARED.replace("{entry}", '{ run = "psql < dump.sql", shell = true }'))
    assert [display(command) for command in request.prepare] == ["python manage.py migrate", "psql < dump.sql"]
