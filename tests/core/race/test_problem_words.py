"""Wrong types, ranges and forms in a race file, in plain words; and what to write instead of a word that is none."""

from pathlib import Path

import pytest

from stackrace.base.errors import SpecError
from stackrace.race.request.race_file import read_race_file, read_request


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
    ],
)
def test_a_problem_says_what_to_write_instead(tmp_path, text, words):
    file = tmp_path / "race.toml"
    file.write_text(text)
    with pytest.raises(SpecError) as refused:
        read_race_file(file, str)
    assert words in refused.value.message


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
