"""An app that takes long to load is given longer to start, and is raced with fewer stacks."""

import pytest

from stackrace.app.app import EntryKind, entry_of
from stackrace.deploy.launcher import _START_TIMEOUT_S, _STARTS
from stackrace.deploy.shutdown import stop
from stackrace.race.pacing.forecast import ForecastInput, fits
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.request import RaceRequest

LOADS_S = 4.5
FAST = ForecastInput(sides=2)
"""The same race of an app that loads at once."""
APP = f"""
import time

time.sleep({LOADS_S})


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory, django_python):
    """What a race of the app would have, its default stacks chosen."""
    folder = tmp_path_factory.mktemp("slow")
    (folder / "slow.py").write_text(APP)
    entry = entry_of(EntryKind.WSGI, "slow:app")
    with set_up(RaceRequest(folder=folder, entry=entry, python=django_python, budget_s=110.0)) as made:
        yield made


@pytest.mark.exhaustive
def test_a_start_may_take_as_long_as_the_apps_examination_suggests(made):
    assert made.examined.loading.wall_s >= LOADS_S > made.examined.loading.cpu_s
    assert made.launcher.start_timeout_s > max(_START_TIMEOUT_S, LOADS_S * _STARTS)
    running = made.launcher.launch(made.stacks[0])
    assert running.ready_s >= LOADS_S
    assert stop(made.guard, [running]) == {}


@pytest.mark.exhaustive
def test_of_stacks_that_nobody_named_fewer_are_raced(made):
    assert len(made.stacks) < len(made.stacks + made.left_out)
    assert fits(FAST, len(made.stacks + made.left_out), 110.0)
