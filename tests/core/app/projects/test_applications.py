"""Applications are found in code of every common shape, without running any of it."""

from pathlib import Path

import pytest
from tests.folders import write

from stackrace.app.projects.detection import detect
from stackrace.base.errors import InputError

RAISES = "raise SystemExit('nothing of a project is ever run')\n"
FLASK = "from flask import Flask\napp = Flask(__name__)\n"
QUART = "from quart import Quart\napp = Quart(__name__)\n"
FASTAPI = "import fastapi\napp = fastapi.FastAPI()\n"
FACTORY = "import flask\ndef create_app(config=None):\n    app = flask.Flask(__name__)\n    return app\n"


PYRAMID = (
    "from pyramid.config import Configurator\ndef main(global_config, **settings):\n"
    "    return Configurator(settings=settings).make_wsgi_app()\n"
)
INI = "[app:main]\nuse = egg:shop\n"

CLEAR = {
    "flask": ({"app.py": RAISES + FLASK}, "wsgi app:app"),
    "fastapi": ({"main.py": FASTAPI}, "asgi main:app"),
    "starlette": ({"site.py": "from starlette.applications import Starlette as S\napp = S()\n"}, "asgi site:app"),
    "litestar": ({"app.py": "from litestar import Litestar\napp = Litestar(route_handlers=[])\n"}, "asgi app:app"),
    "quart": ({"run.py": "from quart import Quart\napp: Quart = Quart(__name__)\n"}, "asgi run:app"),
    "falcon": ({"app.py": "import falcon\napplication = falcon.App()\n"}, "wsgi app:application"),
    "falcon, asgi": ({"app.py": "import falcon.asgi\napp = falcon.asgi.App()\n"}, "asgi app:app"),
    "bottle": ({"app.py": "import bottle\napp = bottle.default_app()\n"}, "wsgi app:app"),
    "pyramid": (
        {"app.py": "def f(): pass\napp = Configurator().make_wsgi_app()\n# pyramid make_wsgi_app"},
        "wsgi app:app",
    ),
    "pyramid with an ini file": (
        {"shop/__init__.py": PYRAMID, "site.ini": INI, "tests.ini": INI, "alembic.ini": "[alembic]\n"},
        'wsgi pyramid.paster:get_app("site.ini")',
    ),
    "pyramid with an ini file for production": (
        {"shop/__init__.py": PYRAMID, "development.ini": INI, "production.ini": INI},
        'wsgi pyramid.paster:get_app("production.ini")',
    ),
    "pyramid with a file for servers": (
        {"shop/__init__.py": PYRAMID, "wsgi.py": "from shop import main\napp = main({})\n", "production.ini": INI},
        "wsgi wsgi:app",
    ),
    "pyramid with an ini file in a folder": (
        {"shop/__init__.py": PYRAMID, "conf/site.ini": INI, "tests/site.ini": INI},
        'wsgi pyramid.paster:get_app("conf/site.ini")',
    ),
    "dash": ({"app.py": "import dash\nboard = dash.Dash()\nserver = board.server\n"}, "wsgi app:board.server"),
    "wsgi by position": (
        {"passenger_wsgi.py": "def application(e, start):\n    return []\n"},
        "wsgi passenger_wsgi:application",
    ),
    "asgi by position": ({"site.py": "async def app(s, r, w): ...\n"}, "asgi site:app"),
    "plain wsgi": ({"hello.py": "def app(environ, start_response):\n    return []\n"}, "wsgi hello:app"),
    "plain asgi": ({"hello.py": "async def app(scope, receive, send): ...\n"}, "asgi hello:app"),
    "a class of its own": (
        {"x.py": "class Site:\n    def __call__(self, environ, start_response): ...\napp = Site()\n"},
        "wsgi x:app",
    ),
    "a subclass": (
        {"x.py": "from flask import Flask\nclass Mine(Flask): ...\napp = Mine(__name__)\n"},
        "wsgi x:app",
    ),
    "wrapped": (
        {"app.py": FLASK + "from werkzeug.middleware.proxy_fix import ProxyFix\napp = ProxyFix(app)\n"},
        "wsgi app:app",
    ),
    "wrapped into asgi": (
        {"app.py": FLASK + "from asgiref.wsgi import WsgiToAsgi\napplication = app = WsgiToAsgi(app)\n"},
        "asgi app:app",
    ),
    "a file that frameworks look for beside others": (
        {"main.py": FASTAPI, "main_of_another_zone.py": FASTAPI, "b.py": FLASK},
        "asgi main:app",
    ),
    "a factory": ({"shop/__init__.py": FACTORY}, "wsgi shop:create_app()"),
    "a factory that is called": (
        {"shop/__init__.py": FACTORY, "wsgi.py": "from shop import create_app\n\napp = create_app()\n"},
        "wsgi wsgi:app",
    ),
    "a factory that is called for servers": (
        {
            "shop/__init__.py": FACTORY,
            "cli.py": FACTORY,
            "wsgi.py": "from shop import create_app\nshop = create_app()\n",
        },
        "wsgi wsgi:shop",
    ),
    "what others contributed beside it": (
        {"src/shop/__init__.py": "", "src/shop/app.py": FACTORY, "contrib/cloud/wsgi.py": FLASK},
        "wsgi shop.app:create_app() in src",
    ),
    "a part of another": (
        {
            "main.py": "from admin import app as admin\n" + FASTAPI + "app.mount('/admin', admin)\n",
            "admin.py": FASTAPI,
        },
        "asgi main:app",
    ),
    "below if and try": (
        {"app.py": "try:\n    from flask import Flask\nfinally:\n    pass\nif True:\n    app = Flask(1)\n"},
        "wsgi app:app",
    ),
    "tests beside it": (
        {"app.py": FLASK, "tests/app.py": FLASK, "test_app.py": FLASK, "examples/app.py": FLASK},
        "wsgi app:app",
    ),
    "an environment beside it": (
        {"app.py": FLASK, "python/pyvenv.cfg": "", "python/lib/app.py": FLASK, "node_modules/x/app.py": FLASK},
        "wsgi app:app",
    ),
    "a package": (
        {"pkg/__init__.py": "", "pkg/web/__init__.py": "", "pkg/web/main.py": FASTAPI},
        "asgi pkg.web.main:app",
    ),
    "a package by its imports": (
        {"app/main.py": "from app.db import x\n" + FASTAPI, "app/db.py": ""},
        "asgi app.main:app",
    ),
    "a package by relative imports": (
        {"app/main.py": "from .db import x\n" + FASTAPI, "app/db.py": ""},
        "asgi app.main:app",
    ),
    "the src layout": ({"src/shop/__init__.py": FACTORY}, "wsgi shop:create_app() in src"),
    "a folder of the backend": ({"backend/main.py": FASTAPI, "frontend/index.js": ""}, "asgi main:app in backend"),
    "an application that a tool imports": (
        {
            "shop/__init__.py": "",
            "shop/app.py": FASTAPI,
            "dev/code-generation/pages.py": "from shop.app import app\n",
        },
        "asgi shop.app:app",
    ),
    "an unknown class for servers": (
        {"asgi.py": "from datasette.app import Datasette\napp = Datasette(['x.db']).app()\n", "x.py": ""},
        "asgi asgi:app",
    ),
    "an unknown class for servers beside a known one": (
        {"asgi.py": "from kernel import Core\napp = Core()\n", "app.py": FLASK},
        "wsgi app:app",
    ),
    "an application from elsewhere for servers": (
        {"wsgi.py": "from moin import application\n"},
        "wsgi wsgi:application",
    ),
    "exported files beside it": (
        {
            "shop.py": FLASK,
            "deploy/.stackrace-export": "",
            "deploy/Procfile": "web: python -m gunicorn deployed_wsgi:application\n",
            "deploy/entry/deployed_wsgi.py": "import shop\n\napplication = shop.app\n",
        },
        "wsgi shop:app",
    ),
    "a file that cannot be parsed": ({"app.py": FLASK, "old.py": "print 'flask'"}, "wsgi app:app"),
}


@pytest.mark.parametrize("case", CLEAR)
def test_what_is_clear_is_raced(tmp_path, case):
    files, expected = CLEAR[case]
    project = detect(write(tmp_path, files), {})
    assert project is not None
    below = project.root.relative_to(tmp_path)
    place = "" if below == Path() else f" in {below}"
    assert f"{project.entry.kind} {project.entry.target}{place}" == expected


UNCLEAR = {
    "an unknown class": (
        {"main.py": "from datasette.app import Datasette\napp = Datasette(['x.db']).app()\n"},
        [
            "main.py, line 2, makes app with an unknown package",
            "stackrace run --asgi main:app",
            "stackrace run --wsgi main:app",
        ],
    ),
    "two applications": ({"a.py": FLASK, "b.py": FASTAPI}, ["--wsgi a:app", "--asgi b:app"]),
    "an application beside a factory": (
        {"app.py": FLASK + FACTORY},
        ["did you mean --wsgi app:app", "--wsgi 'app:create_app()'"],
    ),
    "an application that a factory fills": (
        {"app.py": FLASK + "def create_app():\n    fill(app)\n    return app\n"},
        ["did you mean --wsgi app:app", "--wsgi 'app:create_app()'"],
    ),
    "two factories": ({"a.py": FACTORY, "b.py": FACTORY}, ["--wsgi 'a:create_app()'", "--wsgi 'b:create_app()'"]),
    "a factory with arguments": (
        {"app.py": FACTORY.replace("config=None", "config")},
        ["did you mean --wsgi 'app:create_app(config=\"…\")'?"],
    ),
    "a file of another Python": (
        {"app.py": FLASK + "print 'flask'\n"},
        ["app.py, line 3, cannot be read by Python 3.", "no app was found"],
    ),
    "a Pyramid project with several ini files": (
        {"shop/__init__.py": PYRAMID, "development.ini": INI, "staging.ini": INI},
        ["did you mean --wsgi 'pyramid.paster:get_app(\"development.ini\")'?", "staging.ini"],
    ),
    "examples only": ({"examples/site.py": FLASK}, ["--project examples --wsgi site:app"]),
    "two Django projects": (
        {
            "shop/manage.py": 'import os\nos.environ["DJANGO_SETTINGS_MODULE"] = "a"\n',
            "blog/manage.py": 'import os\nos.environ["DJANGO_SETTINGS_MODULE"] = "b"\n',
        },
        ["--project blog", "--project shop"],
    ),
    "what is deployed twice": (
        {
            "a.py": FLASK,
            "b.py": FLASK,
            "Procfile": "web: gunicorn a:app\n",
            "Dockerfile": 'CMD ["gunicorn", "b:app"]',
        },
        ["--wsgi a:app", "--wsgi b:app"],
    ),
    "code without an app": ({"sums.py": "print(1 + 1)\n"}, ["no app was found", "--wsgi", "--asgi", "--bundled"]),
    "notebooks": ({"notes/sums.ipynb": "{}"}, ["no app was found", "--bundled"]),
    "a framework with its own server": (
        {"app.py": "from aiohttp import web\napp = web.Application()\n"},
        ["aiohttp"],
    ),
}


@pytest.mark.parametrize("case", UNCLEAR)
def test_what_is_not_clear_is_asked_with_all_candidates(tmp_path, monkeypatch, case):
    files, expected = UNCLEAR[case]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        detect(write(tmp_path, files), {})
    for words in expected:
        assert words in str(error.value)


def test_flask_app_of_the_shell_is_the_app_as_for_flask_run(tmp_path):
    files = {"a.py": FLASK, "b.py": FLASK, "Procfile": "web: gunicorn a:app\n"}
    found = detect(write(tmp_path, files), {"FLASK_APP": "b"})
    assert found.entry.target == "b:app"
    assert detect(tmp_path, {"FLASK_APP": "b.py:app"}).entry.target == "b:app"
    # of another project
    assert detect(tmp_path, {"FLASK_APP": "other"}).entry.target == "a:app"


def test_quart_app_of_the_shell_is_the_app_as_for_quart_run(tmp_path):
    files = {"a.py": QUART, "b.py": QUART, "Procfile": "web: hypercorn a:app\n"}
    found = detect(write(tmp_path, files), {"QUART_APP": "b:app"})
    assert (str(found.entry.kind), found.entry.target, found.location) == ("asgi", "b:app", "QUART_APP")
    # of another project
    assert detect(tmp_path, {"QUART_APP": "other"}).entry.target == "a:app"
    assert detect(tmp_path, {"FLASK_APP": "other", "QUART_APP": "b"}).entry.target == "b:app"


def test_flask_app_in_a_package_is_imported_from_above(tmp_path):
    web = "from . import app\nfrom . import views\n"
    write(tmp_path, {"shop/__init__.py": FLASK, "shop/web.py": web, "shop/views.py": ""})
    found = detect(tmp_path / "shop", {"FLASK_APP": "web"})
    assert (found.entry.target, found.root) == ("shop.web:app", tmp_path)


def test_an_extension_and_a_test_client_are_no_candidates(tmp_path):
    made = FLASK + "from other import Api, TestClient\nclient = TestClient(app)\nrest = Api(app)\n"
    with pytest.raises(InputError) as error:
        detect(write(tmp_path, {"a.py": made, "b.py": made}), {})
    assert "a:app" in str(error.value) and ":rest" not in str(error.value) and ":client" not in str(error.value)


def test_candidates_are_named_for_the_current_folder(tmp_path, monkeypatch):
    shop = write(tmp_path / "shop", {"a.py": FLASK, "web/b.py": FASTAPI})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        detect(shop, {})
    assert "--project shop --wsgi a:app" in str(error.value)
    assert "--project shop/web --asgi b:app" in str(error.value)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"index.html": "hello"},
        {".hidden/app.py": FLASK},
        {"tests/test_x.py": "1"},
        {"deploy/.stackrace-export": "", "deploy/entry/app.py": FLASK},
    ],
)
def test_a_folder_without_code_holds_no_app(tmp_path, files):
    assert detect(write(tmp_path, files), {}) is None


def test_a_project_of_thousands_of_files_is_looked_through(tmp_path):
    package = write(tmp_path, {"app.py": FLASK}) / "package"
    package.mkdir()
    for number in range(1000):
        (package / f"m{number}.py").write_text("x = 1\n")
    project = detect(tmp_path, {})
    assert project is not None
    assert project.entry.target == "app:app"


def test_the_checkout_of_stackrace_is_no_project():
    assert detect(Path(__file__).parents[4], {}) is None
