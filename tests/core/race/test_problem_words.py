"""Wrong types, ranges and forms in a race file, in plain words."""

import pytest

from stackrace.base.errors import SpecError
from stackrace.race.request.race_file import read_race_file


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
