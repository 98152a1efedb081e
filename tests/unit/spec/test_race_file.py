"""race.toml, read and checked."""

import pytest

from stackrace.model.app import Entry, EntryKind
from stackrace.model.errors import SpecError, StackError
from stackrace.model.race import Question
from stackrace.spec.race_file import read_race_file

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
        ('[app]\ndjango = "a.b"\nwsgi = "a:b"', "one entry"),
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
