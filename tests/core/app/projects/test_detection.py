"""An app that is named by its file, or by half of its name."""

import json

import pytest
from tests.folders import write

from stackrace.app.app import EntryKind
from stackrace.app.projects.detection import detect, entry_named
from stackrace.base.errors import InputError

SETDEFAULT = 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n'


def project(folder, manage):
    return write(folder, {"manage.py": manage})


def test_a_folder_without_manage_py_holds_no_project(tmp_path):
    assert detect(tmp_path, {}) is None


def test_a_manage_py_without_settings_is_not_djangos(tmp_path):
    assert detect(project(tmp_path, "print('hello')"), {}) is None


@pytest.mark.parametrize(
    "manage",
    [
        SETDEFAULT,
        'def main():\n    os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"\n',
        'from os import environ\nenviron.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")',
    ],
)
def test_the_settings_are_read_from_manage_py(tmp_path, manage):
    found = detect(project(tmp_path, manage), {})
    assert found is not None
    assert (found.entry.kind, found.entry.target) == (EntryKind.DJANGO, "shop.settings")
    assert (found.root, found.location) == (tmp_path, "")


def test_a_manage_py_may_leave_its_settings_to_the_projects_main_function(tmp_path):
    project(tmp_path, "from shop.__main__ import main\nmain()\n")
    write(tmp_path, {"shop/__init__.py": "", "shop/__main__.py": SETDEFAULT})
    assert detect(tmp_path, {}).entry.target == "shop.settings"


def test_a_manage_py_may_put_the_folder_above_on_the_path(tmp_path):
    write(tmp_path, {"example/manage.py": SETDEFAULT.replace("shop", "example"), "example/settings.py": ""})
    found = detect(tmp_path / "example", {})
    assert (found.root, found.entry.target) == (tmp_path, "example.settings")
    # a file of that name above is another project's
    write(tmp_path, {"other/manage.py": SETDEFAULT.replace("shop.settings", "settings"), "settings.py": ""})
    assert detect(tmp_path / "other", {}).root == tmp_path / "other"


def test_manage_py_is_never_run(tmp_path):
    assert detect(project(tmp_path, SETDEFAULT + "raise SystemExit(1)\n"), {}) is not None


def test_the_environment_wins_if_it_names_a_module_of_this_folder(tmp_path):
    write(tmp_path, {"shop/production.py": "", "manage.py": SETDEFAULT})
    here = detect(tmp_path, {"DJANGO_SETTINGS_MODULE": "shop.production"})
    elsewhere = detect(tmp_path, {"DJANGO_SETTINGS_MODULE": "other.settings"})
    assert here is not None
    assert here.entry.target == "shop.production"
    assert elsewhere is not None
    assert elsewhere.entry.target == "shop.settings"


def test_computed_settings_ask_for_the_key(tmp_path):
    manage = 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", f"shop.{which}")'
    with pytest.raises(InputError, match=r"\[app\] django"):
        detect(project(tmp_path, manage), {})


def test_an_unreadable_manage_py_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"manage\.py"):
        detect(project(tmp_path, "def ("), {})


@pytest.mark.parametrize(
    ("line", "environ", "settings"),
    [
        ('os.environ.setdefault("DJANGO_SETTINGS_MODULE", os.environ.get("X", "shop.local"))', {}, "shop.local"),
        (
            'os.environ.setdefault("DJANGO_SETTINGS_MODULE", os.getenv("X", "shop.local"))',
            {"X": "shop.live"},
            "shop.live",
        ),
        (
            'os.environ["DJANGO_SETTINGS_MODULE"] = config("DJANGO_SETTINGS_MODULE", default="shop.dev")',
            {},
            "shop.dev",
        ),
        ('WHICH = "live"\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", f"shop.{WHICH}")', {}, "shop.live"),
    ],
)
def test_settings_are_computed_where_that_needs_no_running(tmp_path, line, environ, settings):
    found = detect(project(tmp_path, "import os\n" + line), environ)
    assert found is not None
    assert found.entry.target == settings


def test_computed_settings_are_asked_for_with_the_modules_that_are_there(tmp_path):
    settings = {"base.py": "INSTALLED_APPS = []\n", "live.py": "from .base import *\n"}
    write(tmp_path / "shop" / "settings", settings)
    manage = 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", which())'
    with pytest.raises(
        InputError, match=r"did you mean --django shop\.settings\.base or --django shop\.settings\.live"
    ):
        detect(project(tmp_path, manage), {})


def test_the_only_settings_are_meant_where_they_are_computed(tmp_path):
    write(tmp_path / "shop", {"settings.py": "INSTALLED_APPS = []\n", "urls.py": ""})
    manage = 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", which())'
    assert detect(project(tmp_path, manage), {}).entry.target == "shop.settings"


def test_settings_without_a_manage_py_are_those_of_django_admin(tmp_path):
    write(
        tmp_path / "example" / "settings",
        {"__init__.py": "from .dev import *\n", "dev.py": "INSTALLED_APPS = []\n"},
    )
    (tmp_path / "models.py").write_text("")
    assert detect(tmp_path, {}).entry.target == "example.settings"
    write(tmp_path / "other", {"settings.py": "INSTALLED_APPS = []\n"})
    with pytest.raises(InputError, match=r"did you mean --django other\.settings\?"):
        detect(tmp_path, {})
    assert detect(tmp_path, {"DJANGO_SETTINGS_MODULE": "other.settings"}).entry.target == "other.settings"


def installed(folder, *, editable):
    """Write an environment into ``folder`` that has the project from there."""
    origin = {"url": folder.as_uri(), "dir_info": {"editable": editable}}
    site = ".venv/lib/python3.11/site-packages/shop-1.dist-info/direct_url.json"
    write(folder, {".venv/pyvenv.cfg": "", ".venv/bin/python": "", site: json.dumps(origin)})
    (folder / ".venv/bin/python").chmod(0o755)


def test_an_app_in_src_that_is_installed_starts_in_the_projects_folder(tmp_path):
    write(
        tmp_path,
        {"src/shop/__init__.py": "", "src/shop/app.py": "from flask import Flask\napp = Flask(__name__)\n"},
    )
    assert detect(tmp_path, {}).root == tmp_path / "src"
    installed(tmp_path, editable=True)
    assert (detect(tmp_path, {}).root, detect(tmp_path, {}).entry.target) == (tmp_path, "shop.app:app")
    installed(tmp_path, editable=False)
    assert detect(tmp_path, {}).root == tmp_path / "src"


def test_contrib_is_aside_at_the_top_only(tmp_path):
    app = "from flask import Flask\napplication = Flask(__name__)\n"
    write(tmp_path, {"shop/__init__.py": "", "shop/contrib/__init__.py": "", "shop/contrib/wsgi.py": app})
    write(tmp_path, {"contrib/demo.py": app})
    assert detect(tmp_path, {}).entry.target == "shop.contrib.wsgi:application"


def test_settings_of_tests_are_not_taken_but_suggested(tmp_path):
    write(tmp_path / "tests", {"settings.py": "INSTALLED_APPS = []\n"})
    (tmp_path / "models.py").write_text("")
    with pytest.raises(InputError, match=r"did you mean --django tests\.settings\?"):
        detect(tmp_path, {})


def test_a_manage_py_in_a_folder_below_is_the_project(tmp_path):
    wsgi = "from django.core.wsgi import get_wsgi_application\napplication = get_wsgi_application()\n"
    write(tmp_path, {"backend/wsgi.py": wsgi, "Procfile": "web: gunicorn --chdir backend wsgi\n"})
    project(tmp_path / "backend", SETDEFAULT)
    found = detect(tmp_path, {})
    assert found is not None
    assert (found.root, found.entry.target) == (tmp_path / "backend", "shop.settings")
    assert found.location == "backend/manage.py"


def test_a_manage_py_that_leaves_the_settings_to_the_environment_is_djangos(tmp_path):
    (tmp_path / "manage.py").write_text("from django.core.management import execute_from_command_line\n")
    (tmp_path / "development.py").touch()
    found = detect(tmp_path, {"DJANGO_SETTINGS_MODULE": "development"})
    assert found is not None
    assert (found.entry.kind, found.entry.target) == (EntryKind.DJANGO, "development")


@pytest.mark.parametrize("place", [".", "web"])
def test_settings_are_imported_from_the_folder_that_manage_py_puts_on_the_path(tmp_path, place):
    folder = tmp_path / place
    write(folder, {"site/shop/settings.py": "", "manage.py": SETDEFAULT})
    found = detect(tmp_path, {})
    assert found is not None
    assert (found.root, found.entry.target) == (folder / "site", "shop.settings")
    assert found.location.endswith("manage.py")


SITE = "from flask import Flask\nsite = Flask(__name__)\n"
FACTORY = "from flask import Flask\ndef create_app():\n    return Flask(__name__)\n"


@pytest.fixture
def folder(tmp_path):
    fast = "from fastapi import FastAPI\napi = FastAPI()\n"
    files = {"app.py": SITE, "notes.py": FACTORY, "fast.py": fast, "empty.py": "", "inner/shop.py": SITE}
    return write(tmp_path, files)


@pytest.mark.parametrize(
    ("word", "right"),
    [
        (
            "app.py",
            '"app.py" does not name a callable; write it like --wsgi app:site, or in a race file wsgi = "app:site"',
        ),
        ("app", "write it like --wsgi app:site"),
        ("app:", "write it like --wsgi app:site"),
        ("./app.py:site", "write it like --wsgi app:site"),
        ("notes.py", """--wsgi 'notes:create_app()', or in a race file wsgi = "notes:create_app()\""""),
        ("notes.py:create_app()", "write it like --wsgi 'notes:create_app()'"),
        ("fast.py", 'write it like --asgi fast:api, or in a race file asgi = "fast:api"'),
        (
            "inner/shop.py",
            '--project inner --wsgi shop:site, or in a race file root = "inner" and wsgi = "shop:site"',
        ),
        ("empty.py", "write it like --wsgi empty:app"),
        ("nowhere.py:make()", "write it like --wsgi 'nowhere:make()'"),
    ],
)
def test_a_file_gets_the_name_of_the_app_in_it(folder, word, right):
    with pytest.raises(InputError) as refused:
        entry_named(EntryKind.WSGI, word, folder)
    assert right in refused.value.message


def test_a_right_name_is_not_looked_up(folder):
    assert entry_named(EntryKind.WSGI, "elsewhere:app", folder).target == "elsewhere:app"
