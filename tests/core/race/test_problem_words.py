"""What is wrong in a race file, in plain words with its line; and what to write instead of a word that is none."""

import re
from pathlib import Path

import pytest

from stackrace.base.errors import SpecError
from stackrace.race.request.race_file import read_request


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[race]\nstacks = []", "race.stacks: must not be empty; give a value, or leave it out"),
        ('[workload]\nurls = ["x"]', "workload.urls.0: 'x' must start with /; write /x"),
        ('[workload]\nurls = ["/a b"]', "workload.urls.0: '/a b' may not have blanks; write /a%20b"),
        ('[workload]\nurls = ["/ö?q=a\\tb"]', "blanks, nor letters beyond ASCII; write /%C3%B6?q=a%09b"),
        ('[app]\nservices = ["redis", "redis"]', """services = ["redis", "redis#2"]"""),
        ('[app]\nwsgi = ["shop:app"]', 'app.wsgi: must be text in quotes, as in wsgi = "shop:app"'),
        ("[race]\nbudget = true", 'race.budget: must be a number, as in budget = "20min"'),
        ('[workload]\nsession = ""', "workload.session: must not be empty"),
        ('[workload]\nsession = "."', "workload.session: '.' is a folder; name a HAR file or an access log"),
        ('[race]\nmemory = "1"', 'race.memory: must be at least 16 MiB, as in memory = "512MiB"'),
        ('wsgi = "shop:app"', "wsgi: unknown key; write it below [app]"),
        ('stacks = ["gunicorn"]', "stacks: unknown key; write it below [race]"),
        ('[race]\nquestion = "best"', "race.question: must be 'winner' or 'ranking'"),
        ('[race]\ndifference = "200%"', "race.difference: must be less than 1"),
        ("[load]\nconcurrency = [0]", "load.concurrency.0: must be at least 1"),
        ("[load]\nconcurrency = [90000]", "load.concurrency.0: must be at most 20000"),
        ('[workload]\nurls = ["http://a/"]', "must start with /, without scheme and host; write /"),
        ("[load]\nconcurrency = 5", "load.concurrency: must be a list, as in concurrency = [5]"),
        ('[load]\nconcurrency = "5"', "load.concurrency: must be a list, as in concurrency = [1, 20]"),
        ('[race]\nstacks = "gunicorn"', 'race.stacks: must be a list, as in stacks = ["gunicorn"]'),
        ('[app]\nservices = "redis"', 'app.services: must be a list, as in services = ["redis"]'),
        ('[app]\nenv = "A=1"', """app.env: must be a table, as in env = { DEBUG = "0" }"""),
        ("[app]\nenv = { A = 1 }", """app.env.A: must be text in quotes, as in A = "1\""""),
        ('[app]\nstatic = ["static"]', 'must be a table, as in static = { "/static/" = "staticfiles" }'),
        ("[app]\nbundled = true", 'app.bundled: must be text in quotes, as in bundled = "django"'),
        ('[[workloads]]\nname = "a"', 'must be a table, as in [workloads.front] and below it urls = ["/"]'),
        ('[load]\nkeep_alive = "no"', "load.keep_alive: write true or false"),
        ("[workload]\nurls = [3]", """workload.urls.0: must be text in quotes, as in "3\""""),
        ('[app]\nenv = { "" = "1" }', """is no name of a variable; give one without =, as in env = { DEBUG"""),
        ("[app]\nroot = 3", "app.root: must be text in quotes"),
        ('[race]\nseed = "x"', "race.seed: must be a whole number"),
        ("app = 3", 'app: must be a table, as in [app] and below it wsgi = "shop:app"'),
        ('[workloads."a b"]\nurls = ["/"]', "must have 1 to 40 letters, digits, - and _"),
        ('[race]\nbudgte = "1min"', "line 2: race.budgte: unknown key; did you mean budget?"),
        ('[workload]\nheaders = { host = "a" }', "give it as [workload] host"),
        ('[app]\ndjango = "a.b"\nwsgi = "a:b"', "give only one of django, wsgi"),
        ('[race]\nmemory = "much"', "write it like 512MiB"),
        ('[race]\ncores = "3-1"', "write it like 0-3 or 0,2,4-6"),
        ("[race]\ncores = 2", "write it like"),
        ('[race]\ncores = "0-3"\nengine_cores = "3"', "race.engine_cores: core 3 is also in [race] cores"),
        ('[app]\nenv_file = "no.env"', "line 2: app.env_file: there is no file 'no.env'"),
        ('[app]\nenv = { "A=B" = "x" }', "line 2: app.env.A=B"),
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
def test_a_problem_says_what_to_write_instead(problems, tmp_path, text, words):
    (tmp_path / "browse.har").write_text("{}")
    assert words in problems(text)


NUL = [
    (r'env = { A = "x\u0000y" }', "app.env.A"),
    (r'env = { "A\u0000" = "x" }', "app.env"),
    (r'prepare = ["true", "echo a\u0000b"]', "app.prepare"),
    (r'static = { "/s/" = "a\u0000b" }', "app.static./s/"),
    (r'root = "a\u0000b"', "app.root"),
    (r'python = "a\u0000b"', "app.python"),
]


@pytest.mark.parametrize(("line", "key"), NUL)
def test_what_no_process_could_be_given_is_refused_with_its_line(problems, line, key):
    assert f"line 2: {key}: has a NUL" in problems(f"[app]\n{line}\n")


@pytest.mark.parametrize("prefix", ['/x\\" { return 200 injected; } location \\"/y/', "/a$b/", "/%/", "/", "a/"])
def test_a_prefix_that_no_server_could_be_given_is_refused_with_its_line(problems, prefix):
    said = problems(f'[app]\nstatic = {{ "{prefix}" = "files" }}\n')
    assert re.search(r"line 2: app\.static: .*(prefix may have|must start|% without)", said)


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("tiny:app", "there is no race file tiny:app; did you mean --asgi tiny:app?"),
        ("huge:app", "did you mean --wsgi huge:app, or --asgi huge:app?"),
        ("tiny.py", "tiny.py is Python, not a race file; did you mean --asgi tiny:app?"),
        ("tiny.py:make()", "did you mean --wsgi 'tiny:make()', or --asgi 'tiny:make()'?"),
        ("notes.py", "notes.py is Python, not a race file; did you mean --wsgi 'notes:create_app()'?"),
        ("notes", "there is no race file notes; did you mean --wsgi 'notes:create_app()'?"),
        (
            "notes.py:create_app()",
            "there is no race file notes.py:create_app(); did you mean --wsgi 'notes:create_app()'?",
        ),
        ("notes.py:create_app('a b')", """did you mean --wsgi 'notes:create_app('"'"'a b'"'"')'?"""),
        ("web/fast.py", "did you mean --asgi web.fast:api?"),
        ("tool.py", "; no app was found in it: name yours as in --wsgi tool:app, or --asgi tool:app"),
        ("nowhere.py", "there is no race file nowhere.py; give an existing one"),
        ("gunicorn", "did you mean --stack gunicorn?"),
        ("127.0.0.1:8000", "to load a server that runs: stackrace load http://127.0.0.1:8000/"),
        ("http://localhost/", "to load a server that runs: stackrace load http://localhost"),
        ("race.tml", "did you mean race.toml?"),
        ("shop", "shop is a folder; did you mean --project shop?"),
        ("site", "site is a folder; did you mean site/race.toml?"),
        ("elsewhere.json", "give an existing one, or none for the defaults"),
    ],
)
def test_a_word_that_is_no_race_file_names_what_it_is(tmp_path, monkeypatch, word, right):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.py").write_text("async def app(scope, receive, send): pass\n")
    (tmp_path / "notes.py").write_text(
        "from flask import Flask\ndef create_app(mode=''):\n    return Flask(mode)\n"
    )
    (tmp_path / "tool.py").write_text("print('hello')\n")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "__init__.py").touch()
    (tmp_path / "web" / "fast.py").write_text("from fastapi import FastAPI\napi = FastAPI()\n")
    (tmp_path / "shop").mkdir()
    (tmp_path / "site").mkdir()
    for folder in (tmp_path, tmp_path / "site"):
        (folder / "race.toml").write_text("")
    with pytest.raises(SpecError) as refused:
        read_request(Path(word))
    assert right in refused.value.message
