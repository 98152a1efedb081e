"""The image, built in a root without a daemon: it races without rights and without namespaces."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from tests.e2e.test_wheel import REPOSITORY, wheel  # noqa: F401 (a fixture)
from tests.images import Image, built
from tests.raced import raced

FEW = ("-c", "4", "--no-twin", "--repeats", "1", "--requests", "40", "--json")
PAGE = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]
"""

STACKS = ("gunicorn", "nginx/uwsgi/uwsgi")
DOCUMENTED = (REPOSITORY / "docs/installing.md").read_text(encoding="utf-8").partition("## The image\n")[2]
RECIPES = dict(re.findall(r"```dockerfile\n(FROM (?:shop|stackrace)\n)(.*?)```", DOCUMENTED, re.DOTALL))
LINES = re.findall(r"^    (docker run (?:.*\\\n)*.*)$", DOCUMENTED, re.MULTILINE)
SHOP = """
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    ca-certificates libbz2-1.0 libffi8 liblzma5 libsqlite3-0 libssl3 zlib1g
COPY --from=python / /usr/local
RUN ldconfig && python3 -m pip install --no-cache-dir flask
WORKDIR /app
USER 1234:1234
"""
"""An image like those of Python: an interpreter in /usr/local, with its shared library and the app's packages."""
SHOP_PAGE = """
from flask import Flask

app = Flask(__name__)


@app.route("/")
def page():
    return "ok"
"""

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def image(wheel, tmp_path_factory):  # noqa: F811
    """The image of the project's Dockerfile; its wheel is not compiled anew."""
    folder = tmp_path_factory.mktemp("image")
    (folder / "wheel/wheels").mkdir(parents=True)
    shutil.copy(wheel, folder / "wheel/wheels")
    try:
        yield built((REPOSITORY / "Dockerfile").read_text(), folder / "root", {"wheel": Image(folder / "wheel")})
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
    app, data = tmp_path / "app", tmp_path / "data"
    for folder in (app, data):
        folder.mkdir()
        folder.chmod(0o1777)
    stacks = ("nginx/uwsgi/uwsgi", "apache+mod_wsgi", "gunicorn")
    words = ("run", "--bundled", *(f"--stack={stack}" for stack in stacks), *FEW)
    done = image.run(*words, volumes={app: "/app", data: "/data"})
    assert answered(raced(done)) == dict.fromkeys(stacks, 40)
    assert list(app.iterdir()) == []
    assert (data / "stackrace/races.sqlite3").stat().st_uid == 1000
    report = image.run("report", "--json", volumes={data: "/data"})
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


def test_it_races_and_reports_as_the_page_says(image, tmp_path):
    write(tmp_path / "app/page.py", PAGE)
    further = '--user "$(id -u):$(id -g)" -v /etc/passwd:/etc/passwd:ro', "--read-only", "--tmpfs /tmp"
    assert all(f"`{each}`" in DOCUMENTED for each in further)
    run, report = (line.replace("--rm", f"--rm {' '.join(further)}") for line in LINES[:2])
    document = raced_by(image, run, tmp_path)
    assert answered(document) == dict.fromkeys(STACKS, 40)
    assert any(note.startswith("Measured in a container") for note in document["words"]["notes"])
    done = image.docker_run(report, tmp_path / "app", tmp_path, 4321)
    assert "Measured in a container" in done.stdout, done.stderr
    assert [path.name for path in (tmp_path / "app").iterdir()] == ["page.py"]


@pytest.fixture(scope="module")
def shop(image, tmp_path_factory):
    """The image of an app with an interpreter that Debian does not have."""
    home = max(Path.home().glob(".pyenv/versions/3.13*"), default=Path(sys.base_prefix))
    if home == Path("/usr"):
        pytest.skip("no Python in a folder of its own here")
    folder = tmp_path_factory.mktemp("shop")
    try:
        made = built(SHOP, folder / "root", {"python": Image(home)})
        write(made.root / "app/shop.py", SHOP_PAGE)
        yield made
    finally:
        shutil.rmtree(folder)


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.parent.chmod(0o755)
    path.write_text(text)


def raced_by(image, line, folder):
    """Race as user 4321 of this machine does in ``folder``/app with a line of docs/installing.md."""
    line = f"{line} {shlex.join([*FEW, *(f'--stack={each}' for each in STACKS)])}"
    return raced(image.docker_run(line, folder / "app", folder, 4321))


@pytest.mark.parametrize("base", RECIPES)
def test_an_image_made_by_a_recipe_races_with_the_interpreter_of_another(base, image, shop, tmp_path):
    line = next(line for line in LINES if "shop-race" in line and ("$PWD" in line) == ("stackrace" in base))
    write(tmp_path / "app/shop.py", SHOP_PAGE)
    try:
        made = built(base + RECIPES[base], tmp_path / "root", {"shop": shop, "stackrace": image})
        document = raced_by(made, line, tmp_path)
    finally:
        shutil.rmtree(tmp_path / "root", ignore_errors=True)
    assert answered(document) == dict.fromkeys(STACKS, 40)


def test_it_races_with_the_interpreter_in_a_volume(image, shop, tmp_path):
    write(tmp_path / "app/shop.py", SHOP_PAGE)
    fill, line = (line for line in LINES if "shop-python" in line)
    assert shop.docker_run(fill, tmp_path / "app", tmp_path, 4321).returncode == 0
    assert answered(raced_by(image, line, tmp_path)) == dict.fromkeys(STACKS, 40)
