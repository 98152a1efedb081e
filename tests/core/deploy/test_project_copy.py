"""An app is started in its copy: it imports from there, and all that it is told stays as it was."""

from __future__ import annotations

import subprocess
import venv
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unprotected import import_paths

from stackrace.app.app import App, Entry, EntryKind
from stackrace.app.data_paths import ImportPaths
from stackrace.app.environment import app_environment
from stackrace.base.process.view import Relocation
from stackrace.deploy.project_copy import ProjectCopy, _app_in_copy, _import_folders
from stackrace.deploy.project_data import copy_below


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


def test_caches_that_lie_in_the_project_are_not_copied(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "site/.cache"))
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)
    for name in ("app.py", ".cache/stackrace/a", ".cache/uv/b", ".cache/c"):
        (tmp_path / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / name).touch()
    (tmp_path / "run").mkdir()
    site = tmp_path / "site"
    made = ProjectCopy(site, [site], (), tmp_path / "run", 2**20, lambda step: None).relocation.path(site)
    assert {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()} == {"app.py", ".cache/c"}


def test_an_editable_install_is_imported_from_the_copy(site, relocation):
    imports = _import_folders(import_paths(site), relocation)
    assert imports == (relocation.path(site.root / "src"),)
    moved = _app_in_copy(site, relocation, imports)
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
    places = ImportPaths(modules={name: site.root / place, "other": Path("/usr/lib/elsewhere")})
    assert _import_folders(places, relocation) == ((relocation.path(site.root / imports),) if imports else ())


def test_code_data_and_commands_stay_as_they_are_and_the_app_starts_in_the_copy(site, relocation, monkeypatch):
    monkeypatch.setenv("PWD", str(site.root))
    (site.root / "static").mkdir()
    app = replace(
        site,
        environment={"NAME": f"sqlite:///{site.root}/a.db", "PYTHONPATH": f"{site.root}/lib"},
        static={"/s/": site.root / "static"},
        prepare=(("python", "manage.py"),),
    )
    started = _app_in_copy(app, relocation, [relocation.path(site.root / "src")])
    copy = relocation.path(site.root)
    assert (started.root, started.static) == (copy, {"/s/": copy / "static"})
    assert started.environment == {
        "NAME": f"sqlite:///{site.root}/a.db", "PYTHONPATH": f"{copy}/src:{site.root}/lib", "PWD": str(copy)
    }  # fmt: skip
    assert started.prepare == app.prepare
    assert app_environment(started)["PATH"].startswith(f"{site.root}/.venv/bin")


def test_byte_code_of_the_copy_does_not_pile_up_in_the_cache(site, relocation, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache = tmp_path / "cache/stackrace/pycache"
    app = replace(site, python=Path("/opt/python/bin/python3"), environment={"PYTHONPYCACHEPREFIX": str(cache)})
    prefix = Path(_app_in_copy(app, relocation, ()).environment["PYTHONPYCACHEPREFIX"])
    assert prefix == tmp_path / "run/pycache"
    assert (prefix / "opt").resolve() == cache / "opt"
