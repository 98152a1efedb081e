"""Wrong types, ranges and forms in a race file, in plain words."""

import pytest

from stackrace.model.errors import SpecError
from stackrace.spec.race_file import read_race_file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[race]\nstacks = []", "race.stacks: must not be empty; give a value, or leave it out"),
        ('[workload]\nurls = ["x"]', "workload.urls.0: must start with /"),
        ('[race]\nquestion = "best"', "race.question: must be 'winner' or 'ranking'"),
        ('[race]\ndifference = "200%"', "race.difference: must be less than 1"),
        ("[load]\nconcurrency = [0]", "load.concurrency.0: must be at least 1"),
        ("[load]\nconcurrency = [90000]", "load.concurrency.0: must be at most 20000"),
        ("[load]\nconcurrency = 5", "load.concurrency: must be a list, as in [1, 2]"),
        ('[load]\nkeep_alive = "no"', "load.keep_alive: write true or false"),
        ("[app]\nroot = 3", "app.root: must be text in quotes"),
        ('[race]\nseed = "x"', "race.seed: must be a whole number"),
        ("app = 3", "app: must be a table"),
        ('[workloads."a b"]\nurls = ["/"]', "must have 1 to 40 letters, digits, - and _"),
    ],
)
def test_a_problem_says_what_to_write_instead(tmp_path, text, words):
    file = tmp_path / "race.toml"
    file.write_text(text)
    with pytest.raises(SpecError) as refused:
        read_race_file(file, str)
    assert words in refused.value.message
