"""Real services, started privately beside an app, and nothing left of them."""

import subprocess
from pathlib import Path

import pytest

from stackrace.deploy.beside import start_services
from stackrace.deploy.guard import Guard
from stackrace.model.errors import InputError
from stackrace.services import services


@pytest.mark.parametrize("name", sorted(services()))
def test_a_service_starts_answers_and_goes(name):
    if missing := services()[name].missing():
        pytest.skip(missing)
    with Guard() as guard:
        beside = start_services([name], guard, cores=())
        ((pid,),) = beside.pids.values()
        assert pid in guard.status([pid])[pid].family
        assert any(str(guard.directory) in value or "%2F" in value for value in beside.environment.values())
        recipe = services()[name].recipe(guard.directory / name)
        assert subprocess.run(recipe.ready, capture_output=True).returncode == 0
    assert not Path(f"/proc/{pid}").exists()
    assert not guard.directory.exists()


def test_an_unknown_service_names_the_known_ones():
    with Guard() as guard, pytest.raises(InputError, match="known are mariadb, memcached, postgresql, redis"):
        start_services(["oracle"], guard, cores=())


def test_services_listen_on_no_network():
    before = listening()
    with Guard() as guard:
        present = [name for name, service in services().items() if not service.missing()]
        start_services(present, guard, cores=())
        assert listening() - before == set()


def listening():
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return {line.split()[1] for line in lines if line.split()[3] == "0A"}
