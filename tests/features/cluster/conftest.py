"""The machines of these tests: two labs, of which one is up at a time, mended before each test."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.features.cluster.lab import lab, why_no_lab

from stackrace.race.preparation.prepared import prepared
from stackrace.race.request.request import RaceRequest

WHY_NOT = why_no_lab()
LABS, UP = {}, ExitStack()
"""The lab that is up, by name, and what ends it."""
AHEAD_S = 5000
DELAY_S = 0.01
"""Of each of a packet's ways to or from the far engine, so its round trip is 20 ms."""


def install(folder):
    """Build what races install, here, where there is a network."""
    request = RaceRequest(folder=folder, bundled="django", stacks=("gunicorn", "waitress"), concurrency=(4,))
    with prepared(request):
        pass


@pytest.fixture(scope="session", autouse=True)
def machines_can_be_had(tmp_path_factory):
    """Skip where no machines can be made."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    install(tmp_path_factory.mktemp("installed"))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem):
    """End the lab with the last of these tests."""
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        take_down()


def take_down():
    """End the lab that is up: its machines would work all through the tests of others."""
    LABS.clear()
    UP.close()


@contextmanager
def few_machines(folder):
    with lab(folder) as made:
        made.scheduler = made.machine("scheduler")
        made.engine, made.host = made.machine("engine", cores="1"), made.machine("host")
        roles = {"engine": [made.engine], "stack": [made.host]}
        made.address = made.cluster(made.scheduler, roles)
        yield made


@contextmanager
def many_machines(folder):
    with lab(folder) as made:
        made.scheduler = made.machine("scheduler")
        # what is tried out over it before each race costs its relay a second for each 100 MB
        far = {"ahead_s": AHEAD_S, "delay_s": DELAY_S, "bytes_per_s": 5_000_000}
        made.engines = [made.machine("near", cores="1"), made.machine("far", cores="1", **far)]
        made.hosts = [made.machine("host-1", ahead_s=77), made.machine("host-2")]
        roles = {"engine": made.engines, "stack": made.hosts}
        made.address = made.cluster(made.scheduler, roles)
        yield made


def mended(machines, tmp_path_factory):
    """Let all be there again, whom a test may have ended; a test reads what it was told itself."""
    name = machines.__name__
    if name not in LABS:
        take_down()
        LABS[name] = UP.enter_context(machines(tmp_path_factory.mktemp(name[:4])))
    made = LABS[name]
    made.whole(made.scheduler)
    (made.folder / "scheduler.log").write_text("")
    return made


@pytest.fixture
def small(tmp_path_factory):
    """A scheduler, an engine, and a host of stacks."""
    return mended(few_machines, tmp_path_factory)


@pytest.fixture
def several(tmp_path_factory):
    """A scheduler, two engines, one far away with another clock, and two hosts of stacks."""
    return mended(many_machines, tmp_path_factory)
