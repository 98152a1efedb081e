"""An app runs from its copy: variables, commands and imports lead there, the interpreter stays."""

from __future__ import annotations

import subprocess
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from stackrace.app import ImportPlaces, app_environment, import_places
from stackrace.app.app import App, Entry, EntryKind
from stackrace.deploy.moved_app import imports_of, moved_app
from stackrace.deploy.project_copy import copy_below
from stackrace.deploy.relocation import Relocation


@pytest.fixture
def site(tmp_path):
    """A project with its environment in it, in which it is installed as editable."""
    root = tmp_path / "site"
    (root / "src" / "shop").mkdir(parents=True)
    (root / "src" / "shop" / "__init__.py").touch()
    venv.create(root / ".venv", symlinks=True)
    packages = next((root / ".venv").glob("lib/python3*/site-packages"))
    (packages / "shop.pth").write_text(f"{root}/src\n")
    entry = Entry(kind=EntryKind.WSGI, target="shop:app")
    return App(name="site", root=root, entry=entry, python=root / ".venv/bin/python")


@pytest.fixture
def relocation(site, tmp_path):
    relocation = Relocation(tmp_path / "run" / "copy").with_copies(site.root)
    copy_below(relocation, site.root, ())
    return relocation


def imported(app, module):
    command = [str(app.python), "-c", f"import {module}; print({module}.__file__)"]
    return Path(subprocess.check_output(command, env=app_environment(app), text=True).strip())


def test_an_editable_install_is_imported_from_the_copy(site, relocation):
    imports = imports_of(import_places(site), relocation)
    assert imports == (relocation.path(site.root / "src"),)
    moved = moved_app(site, relocation, imports)
    assert moved.python == site.python
    assert imported(moved, "shop") == relocation.path(site.root / "src/shop/__init__.py")
    assert imported(site, "shop") == site.root / "src/shop/__init__.py"


@pytest.mark.parametrize(
    ("name", "place", "imports"),
    [
        ("shop", "src/shop", "src"),
        ("shop", "src/shop/__init__.py", "src"),
        ("shop", "src/shop.py", "src"),
        ("a.shop", "src/a/shop", "src"),
        ("shop", "src", ""),
    ],
)
def test_finders_of_editable_installs_are_followed_where_names_are_those_of_folders(
    site, relocation, name, place, imports
):
    places = ImportPlaces(modules={name: site.root / place, "other": Path("/usr/lib/elsewhere")})
    assert imports_of(places, relocation) == ((relocation.path(site.root / imports),) if imports else ())


def test_variables_and_commands_lead_to_the_copy(site, relocation, monkeypatch):
    monkeypatch.setenv("PWD", str(site.root))
    app = replace(
        site,
        environment={"DATABASE_URL": f"sqlite:///{site.root}/a.db", "PYTHONPATH": f"{site.root}/lib"},
        prepare=(("python", f"{site.root}/manage.py"),),
    )
    moved = moved_app(app, relocation, [relocation.path(site.root / "src")])
    copy = relocation.path(site.root)
    assert moved.environment == {
        "DATABASE_URL": f"sqlite:///{copy}/a.db", "PYTHONPATH": f"{copy}/lib:{copy}/src", "PWD": str(copy)
    }  # fmt: skip
    assert moved.prepare == (("python", f"{copy}/manage.py"),)
    assert app_environment(moved)["PATH"].startswith(f"{site.root}/.venv/bin")


def test_byte_code_of_the_copy_does_not_pile_up_in_the_cache(site, relocation, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache = tmp_path / "cache/stackrace/pycache"
    app = replace(site, python=Path("/opt/python/bin/python3"), environment={"PYTHONPYCACHEPREFIX": str(cache)})
    prefix = Path(moved_app(app, relocation, ()).environment["PYTHONPYCACHEPREFIX"])
    assert prefix == tmp_path / "run/pycache"
    assert (prefix / "opt").resolve() == cache / "opt"
