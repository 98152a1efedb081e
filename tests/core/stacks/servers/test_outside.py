"""Servers of others: found in a local folder, and refused with file and line when they cannot be used."""

from __future__ import annotations

import re
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.stacks.servers import catalogue
from stackrace.stacks.servers import outside as outside_servers

EXAMPLE = Path(__file__).parents[4] / "examples" / "outside_server"
GOOD = (EXAMPLE / "stackrace_wsgiref" / "server.py").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """A folder of servers with the example in it, under another name."""
    shutil.copytree(EXAMPLE / "stackrace_wsgiref", tmp_path / "mine")
    return tmp_path


def write(folder, old, new):
    file = folder / "mine" / "server.py"
    assert old in GOOD
    file.write_text(GOOD.replace(old, new), encoding="utf-8")
    return file


def test_a_local_server_joins_the_catalogue_and_leaves_the_shared_one_alone(folder):
    extended = catalogue().extended(folder)
    assert set(extended.entries) == {*catalogue().entries, "wsgiref"}
    assert list(extended.entries) == sorted(extended.entries)
    assert "wsgiref" not in catalogue().entries
    assert catalogue().extended(None) is catalogue()


def test_a_local_server_renders_the_template_beside_it(folder, make_site):
    entry = catalogue().extended(folder).server("wsgiref")
    recipe = entry.recipe(make_site("waitress"))
    assert "port = 8000" in recipe.files["wsgiref.ini"]
    (folder / "mine" / "wsgiref.ini.j2").write_text("mine = {{ threads }}\n")
    assert entry.recipe(make_site("waitress")).files["wsgiref.ini"] == "mine = 4\n"


def test_loading_leaves_nothing_in_the_users_folder(folder):
    before = sorted(folder.rglob("*"))
    catalogue().extended(folder)
    assert sorted(folder.rglob("*")) == before


def test_a_server_may_import_what_lies_beside_it_and_derive_from_one_of_ours(folder, make_site, next_hop):
    (folder / "mine" / "words.py").write_text('TITLE = "My nginx"\n')
    (folder / "mine" / "server.py").write_text(
        "from dataclasses import replace\n"
        "from stackrace.stacks.servers.nginx.server import Nginx\n"
        "from .words import TITLE\n"
        "class Mine(Nginx):\n"
        "    spec = replace(Nginx.spec, name='my-nginx', title=TITLE)\n"
        "SERVER = Mine()\n"
    )
    entry = catalogue().extended(folder).server("my-nginx")
    assert entry.spec.title == "My nginx"
    assert "daemon off" in entry.recipe(make_site("nginx", upstream=next_hop("http"))).files["nginx.conf"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("SERVER = Wsgiref()", "", r"mine/server\.py has no SERVER; end it with"),
        ("SERVER = Wsgiref()", "SERVER = Wsgiref", "must be an instance"),
        ("SERVER = Wsgiref()", "SERVER = Wsgire()", r"server\.py, line \d+: NameError: name 'Wsgire'"),
        ("SERVER = Wsgiref()", "raise SystemExit(3)", r"line \d+: SystemExit: 3"),
        ("class Wsgiref(Server):", "class Wsgiref(Server:", r"line \d+ of server\.py: SyntaxError"),
        ("from stackrace.stacks.servers import", "from ..contract import", ": (ImportError|ModuleNotFound)"),
        ("def recipe(", "def recipes(", r"line \d+: TypeError: Can't instantiate abstract class"),
        ("BACKLOG),", "BACKLOGS),", r"line \d+: NameError: name 'BACKLOGS'"),
        ('"wsgiref.ini.j2"', '"absent.ini.j2"', r"line \d+: .*TemplateNotFound.*absent"),
        ('"launcher.py")', '"launchers.py")', r"line \d+: FileNotFoundError"),
        ("return Recipe(", "return dict(", "must return a stackrace.stacks.servers.Recipe"),
        ("return ()", 'return ("waitress")', "must return a tuple of strings"),
        ("return ()", "return 1", "must return a tuple of strings"),
        ("return ()", "return settings.none", r"line \d+: AttributeError"),
        ('name="wsgiref"', 'name="WSGI/ref"', "its name 'WSGI/ref' must have"),
        ("listens=frozenset({Protocol.HTTP}),", "", "which protocols it listens to"),
        ("hosts=frozenset({Interface.WSGI}),", "", "neither hosts an interface nor forwards"),
        ('name="threads"', 'name="instances"', "'instances' is there twice, or is one that every server has"),
        ("default=4", "default=0", "default of its setting 'threads' is not between"),
        ("default=4", 'default="many"', "is none of its choices"),
        ("spec = ServerSpec(", "specs = ServerSpec(", "has no spec"),
    ],
)
def test_what_cannot_be_used_is_named_with_file_and_line(folder, old, new, complaint):
    write(folder, old, new)
    with pytest.raises(InputError) as caught:
        catalogue().extended(folder)
    message = caught.value.message
    assert re.search(complaint, message), message
    assert str(folder) in message or "server.py" in message
    if "Error:" in message:
        assert "server.py" in caught.value.detail
        assert "outside.py" not in caught.value.detail, "only their own part of the traceback"
        assert "importlib" not in caught.value.detail


def test_the_line_that_is_named_is_the_one_that_is_wrong(folder):
    file = write(folder, "SERVER = Wsgiref()", "SERVER = Wsgire()")
    line = file.read_text().splitlines().index("SERVER = Wsgire()") + 1
    with pytest.raises(InputError, match=rf"server\.py, line {line}: NameError"):
        catalogue().extended(folder)


def test_a_name_that_is_taken_is_refused_with_both_places(folder):
    write(folder, 'name="wsgiref"', 'name="gunicorn"')
    with pytest.raises(InputError, match="two servers are called 'gunicorn'") as caught:
        catalogue().extended(folder)
    assert "stacks/servers/gunicorn/server.py" in caught.value.message
    assert str(folder / "mine" / "server.py") in caught.value.message


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_without_servers_is_explained(tmp_path, make):
    folder = tmp_path / "servers"
    if make:
        folder.mkdir()
    with pytest.raises(InputError, match=r"NAME/server\.py" if make else "--servers or"):
        catalogue().extended(folder)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("absent_package.server:SERVER", "ModuleNotFoundError.*uninstall an installed package"),
        ("stackrace.stacks.servers.contract:Server", "must be an instance"),
        ("stackrace.stacks.servers.contract:absent", "AttributeError"),
    ],
)
def test_a_broken_entry_point_is_named_with_its_package(monkeypatch, value, complaint):
    point = EntryPoint(name="theirs", value=value, group=outside_servers._GROUP)
    monkeypatch.setattr(outside_servers, "entry_points", lambda group: [point])
    with pytest.raises(InputError, match=f"entry point 'theirs'.*{complaint}"):
        list(outside_servers.in_packages())


def test_an_installed_package_says_that_it_has_no_pages(tmp_path):
    assert outside_servers._guide() == "docs/adding-a-server.md"
    assert outside_servers._guide(tmp_path).endswith("in Stackrace's sources; an installed package has none")
