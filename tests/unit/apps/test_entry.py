import subprocess
import sys
from pathlib import Path

import pytest

from stackrace.apps import entry_of, entry_source
from stackrace.model.app import App, EntryKind
from stackrace.model.errors import InputError
from stackrace.model.stack import Interface


def app(root, kind, target, **changes):
    return App(name="app", root=root, entry=entry_of(kind, target), python=Path("python"), **changes)


def run(source, expression):
    """Return what ``expression`` prints after ``source`` ran in a fresh interpreter."""
    command = [sys.executable, "-c", f"{source}\nprint({expression})"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("target", "printed"),
    [
        ("pkg.mod:app", "the app"),
        ("pkg.mod:holder.inner", "inside"),
        ("pkg.mod:create('x', n=2)", "made x 2"),
    ],
)
def test_callables_attributes_and_factories_become_the_application(tmp_path, target, printed):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "mod.py").write_text(
        "from types import SimpleNamespace\n"
        "app = 'the app'\n"
        "holder = SimpleNamespace(inner='inside')\n"
        "def create(name, n): return f'made {name} {n}'\n"
    )
    source = entry_source(app(tmp_path, EntryKind.WSGI, target), Interface.WSGI)
    assert run(source, "application") == printed


def test_the_project_comes_first_on_the_path(tmp_path):
    (tmp_path / "colorsys.py").write_text("app = 'not the standard library'")
    source = entry_source(app(tmp_path, EntryKind.ASGI, "colorsys:app"), Interface.ASGI)
    assert run(source, "application") == "not the standard library"


def test_the_entry_of_a_django_project_names_its_settings(tmp_path):
    project = app(tmp_path, EntryKind.DJANGO, "shop.settings")
    for interface in (Interface.WSGI, Interface.ASGI):
        source = entry_source(project, interface)
        compile(source, "entry", "exec")
        assert "os.environ[\"DJANGO_SETTINGS_MODULE\"] = 'shop.settings'" in source
        assert f"get_{interface}_application" in source


def test_the_apps_environment_may_override_the_settings(tmp_path):
    project = app(tmp_path, EntryKind.DJANGO, "shop.settings", environment={"DJANGO_SETTINGS_MODULE": "shop.fast"})
    assert "'shop.fast'" in entry_source(project, Interface.WSGI)


def test_an_interface_the_app_does_not_offer_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be hosted as asgi"):
        entry_source(app(tmp_path, EntryKind.WSGI, "notes:app"), Interface.ASGI)
