"""The image, built in a root without a daemon: it races without rights and without namespaces."""

import json
import shutil

import pytest
from tests.e2e.test_wheel import REPOSITORY, wheel  # noqa: F401 (a fixture)
from tests.images import built
from tests.raced import raced

FEW = ("-c", "4", "--no-twin", "--repeats", "1", "--requests", "40", "--json")
PAGE = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]
"""

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def image(wheel, tmp_path_factory):  # noqa: F811
    """The image of the project's Dockerfile; its wheel is not compiled anew."""
    folder = tmp_path_factory.mktemp("image")
    (folder / "wheel/wheels").mkdir(parents=True)
    shutil.copy(wheel, folder / "wheel/wheels")
    try:
        yield built((REPOSITORY / "Dockerfile").read_text(), folder / "root", {"wheel": folder / "wheel"})
    finally:
        shutil.rmtree(folder)


def answered(document):
    """Return the right answers of each stack, which a busy machine does not change."""
    return {
        launch["stack"]: sum(one["counts"]["ok"] for one in launch["slices"]) for launch in document["launches"]
    }


def test_it_has_every_server_and_service_of_debian(image):
    done = image.run("stacks", "--json")
    assert done.returncode == 0, done.stderr
    assert {one["name"] for one in json.loads(done.stdout) if one["debian_packages"] and not one["ready"]} == set()
    done = image.run("install", "--all", "mariadb", "memcached", "postgresql", "redis", "--dry-run", "--json")
    assert json.loads(done.stdout)["missing"] == [], done.stderr


def test_it_races_the_bundled_app_as_a_user_without_rights(image, tmp_path):
    tmp_path.chmod(0o777)
    stacks = ("nginx/uwsgi/uwsgi", "apache+mod_wsgi", "gunicorn")
    done = image.run(
        "run", "--bundled", *(f"--stack={stack}" for stack in stacks), *FEW, volumes={tmp_path: "/app"}
    )
    assert answered(raced(done)) == dict.fromkeys(stacks, 40)
    assert list(tmp_path.iterdir()) == []
    assert (image.root / "data/stackrace/races.sqlite3").stat().st_uid == 1000
    report = image.run("report", "--json")
    assert json.loads(report.stdout) == json.loads(done.stdout)


def test_it_races_the_users_app_and_its_service_as_any_user(image, tmp_path):
    app, data = tmp_path / "app", tmp_path / "data"
    for folder, mode in ((app, 0o755), (data, 0o1777)):
        folder.mkdir()
        folder.chmod(mode)
    (app / "page.py").write_text(PAGE)
    (app / "race.toml").write_text('[app]\nwsgi = "page:application"\nservices = ["postgresql"]\n')
    # initdb wants a user with a name
    (tmp_path / "passwd").write_text((image.root / "etc/passwd").read_text() + "ann:x:4321:4321::/data:/bin/sh\n")
    volumes = {app: "/app", data: "/data", tmp_path / "passwd": "/etc/passwd"}
    done = image.run(*("run", "race.toml", "--stack", "waitress", *FEW), user="4321:4321", volumes=volumes)
    assert answered(raced(done)) == {"waitress": 40}
    assert {path.name for path in app.iterdir()} == {"page.py", "race.toml"}
