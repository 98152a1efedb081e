"""What a race lacks is said at once, with the one command that installs it."""

from pathlib import Path

import pytest
from tests.absent import nothing_installed

from stackrace.base.errors import InputError, MissingError, SpecError
from stackrace.features.comparisons.named import NAMES, file_of
from stackrace.features.comparisons.raced_again import _missing_of_comparison
from stackrace.features.comparisons.reading import read_comparison
from stackrace.race.preparation.installing import install_plan, missing_items, services_of
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.race_file import read_request
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import catalogue
from stackrace.stacks.services import services


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Return the request's folder, on a machine without any program."""
    folder = tmp_path / "bin"
    folder.mkdir()
    nothing_installed(monkeypatch, folder)
    return tmp_path


def test_everything_is_missing_at_once_and_one_command_installs_it(bare):
    request = RaceRequest(
        folder=bare, bundled="ladder", services=("redis",), stacks=("nginx/http/gunicorn", "haproxy/http/waitress")
    )
    with pytest.raises(MissingError) as refused, set_up(request):
        pass
    message = refused.value.message
    for word in (
        "mariadbd",
        "memcached",
        "redis-server",
        "mariadb_config",
        "pkg-config",
        "gcc",
        "nginx",
        "haproxy",
    ):
        assert f"no program {word}" in message or f", {word}" in message, word
    assert message.endswith("run: stackrace install ladder mariadb memcached redis nginx haproxy")


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("mysql", 'did you mean services = ["mariadb"]?'),
        ("postgres", 'did you mean services = ["postgresql"]?'),
        ("pg#2", 'did you mean services = ["postgresql#2"]?'),
        ("memcache", 'did you mean services = ["memcached"]?'),
        ("Redis", 'did you mean services = ["redis"]?'),
        ("redis-server", 'did you mean services = ["redis"]?'),
        ("valkey", 'did you mean services = ["redis"]?'),
        ("myqsl", 'did you mean services = ["mariadb"]?'),
        ("mongodb", "known are mariadb, memcached, postgresql, redis"),
        ("redis#1", 'services = ["redis", "redis#2"]'),
    ],
)
def test_an_unknown_service_is_refused_with_the_nearest(name, right):
    with pytest.raises(InputError, match=rf"\[app\] services: .*{name}") as refused:
        missing_items(RaceRequest(folder=Path("/nowhere"), services=(name,)), catalogue())
    assert right in refused.value.message


def test_a_users_own_servers_are_in_the_command(bare):
    folder = bare / "servers" / "mine"
    folder.mkdir(parents=True)
    (folder / "server.py").write_text(
        "from stackrace.stacks.servers import Needs\n"
        "from stackrace.stacks.servers.gunicorn.server import Gunicorn\n"
        "class Mine(Gunicorn):\n"
        "    from dataclasses import replace as _replace\n"
        "    spec = _replace(Gunicorn.spec, name='mine')\n"
        "    needs = Needs(apt=('mine',), binary='mine')\n"
        "SERVER = Mine()\n"
    )
    request = RaceRequest(folder=bare, bundled="django", stacks=("mine",), servers=folder.parent)
    with pytest.raises(MissingError, match=r"run: stackrace install mine --servers .*servers$"), set_up(request):
        pass


def test_a_second_instance_of_a_service_is_the_same_to_install(bare):
    request = RaceRequest(folder=bare, bundled="django", services=("memcached", "memcached#2"))
    assert [item.name for item in missing_items(request, catalogue())] == ["memcached"]


def test_a_race_file_is_read_where_its_servers_are_missing(bare):
    file = bare / "race.toml"
    file.write_text(
        '[app]\nbundled = "django"\nservices = ["postgresql"]\n[race]\nstacks = ["nginx/http/gunicorn"]\n'
    )
    assert [item.name for item in missing_items(read_request(file), catalogue())] == ["postgresql", "nginx"]
    assert [item.name for item in install_plan([str(file)], catalogue()).missing] == ["postgresql", "nginx"]


def test_what_has_no_package_is_named_with_where_to_get_it(bare):
    request = RaceRequest(
        folder=bare, bundled="django", stacks=("nginx/http/gunicorn", "openlitespeed/http/gunicorn")
    )
    with pytest.raises(MissingError) as refused, set_up(request):
        pass
    assert (
        "run: stackrace install nginx; openlitespeed has no Debian package: install it as" in refused.value.message
    )


@pytest.mark.parametrize("name", list(services()))
def test_every_service_can_be_installed_by_its_name(bare, name):
    (item,) = install_plan([name], catalogue()).missing
    assert (item.name, item.packages) == (name, services()[name].apt)


def test_a_comparison_lacks_what_any_of_its_parts_does(bare):
    refused = _missing_of_comparison(read_comparison("mod-wsgi-2009"))
    assert refused.message.endswith("run: stackrace install historic/mod-wsgi-2009")
    for word in ("mariadb (", "memcached (", "ladder (", "rails (", "no program mariadb_config", "no gem mysql2"):
        assert word in refused.message


def test_the_static_part_needs_no_service():
    file = file_of(Path("historic/mod-wsgi-2009/a-static"))
    assert services_of(read_request(file)) == ()


def test_a_recording_that_is_still_to_be_made_keeps_nobody_from_installing_or_recording(bare):
    file = bare / "race.toml"
    file.write_text('[app]\nbundled = "django"\n[workload]\nsession = "visit.har"\n')
    with pytest.raises(SpecError, match="export it from your browser as HAR"):
        read_request(file)
    assert read_request(file, recordings=False).session == bare / "visit.har"
    assert install_plan([str(file)], catalogue()).missing == ()


@pytest.mark.parametrize("name", NAMES)
def test_every_comparison_says_what_it_lacks(bare, name):
    refused = _missing_of_comparison(read_comparison(name))
    assert refused.message.endswith(f"run: stackrace install historic/{name}")
