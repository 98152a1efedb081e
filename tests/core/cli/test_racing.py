"""How a race goes on from the command line."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from tests.factories import make_race

from stackrace.api.resuming import ResumedRace
from stackrace.cli.live_race import _resume_message
from stackrace.cli.run import command
from stackrace.race.run.resume import Checkpoint

RACE = make_race(stacks=2, levels=(10,), blocks=2, ending=None, elapsed_s=60.0)
RESUMED = ResumedRace(race=RACE, request=None, checkpoint=Checkpoint(request={}, blocks=1), left_s=None)


def test_what_is_told_at_the_start():
    assert _resume_message(RESUMED) == f"going on with race {RACE.id} after 1 block"
    ahead = replace(RESUMED, checkpoint=Checkpoint(request={}, blocks=3), left_s=40.4)
    assert _resume_message(ahead) == f"going on with race {RACE.id} after 3 blocks, about 40 s to go"


@pytest.mark.parametrize(
    "flags",
    [["--stack", "gunicorn"], ["-c", "3"], ["--seed", "1"], ["--repeats", "2"], ["--slice", "1s"], ["--quick"],
     ["--question", "ranking"], ["--url", "/"], ["--close"], ["--difference", "3%"]],
)  # fmt: skip
def test_flags_that_would_change_the_race_are_refused(flags):
    done = CliRunner().invoke(command, ["--resume", "3m41c", *flags])
    assert done.exit_code == 2
    assert f"{flags[0]} would change" in done.output
    assert "--resume" in done.output


def test_a_race_file_is_refused_beside_it():
    done = CliRunner().invoke(command, ["race.toml", "--resume", "3m41c"])
    assert done.exit_code == 2
    assert "[RACE.toml] would change" in done.output
