import subprocess
import sys
from pathlib import Path

import pytest

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.entry import deployed_source, entry_source
from stackrace.base.errors import InputError
from stackrace.stacks.setting import Interface


def app(root, kind, target, **changes):
    return App(name="app", root=root, entry=entry_of(kind, target), python=Path("python"), **changes)


def run(source, expression):
    """Return what ``expression`` prints after ``source`` ran in a fresh interpreter."""
    command = [sys.executable, "-c", f"{source}\nprint({expression})"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("target", "printed"),
    [("pkg.mod:app", "the app"), ("pkg.mod:holder.inner", "inside"), ("pkg.mod:create('x', n=2)", "made x 2")],
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


def test_a_module_is_found_although_its_package_gives_its_name_to_something_else(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from .app import app\n")
    (tmp_path / "pkg" / "app.py").write_text("app = 'the app'\n")
    source = entry_source(app(tmp_path, EntryKind.WSGI, "pkg.app:app"), Interface.WSGI)
    assert run(source, "application") == "the app"


ECHO = """
def wsgi(environ, start_response):
    return environ["wsgi.url_scheme"]

async def asgi(scope, receive, send):
    send(scope.get("scheme"))
"""


@pytest.mark.parametrize(
    ("said", "scheme"),
    [
        ("https", "https"),
        ("http", "http"),
        ("https,https", "https"),
        ("https, https", "https"),
        ("https, http", "ws"),
        ("gopher", "ws"),
        (None, "ws"),
    ],
)
def test_behind_a_proxy_the_scheme_is_what_it_says(tmp_path, said, scheme):
    (tmp_path / "echo.py").write_text(ECHO)
    environ = {"wsgi.url_scheme": "ws"} | ({"HTTP_X_FORWARDED_PROTO": said} if said else {})
    source = entry_source(app(tmp_path, EntryKind.WSGI, "echo:wsgi"), Interface.WSGI, proxied=True)
    assert run(source, f"application({environ!r}, None)") == scheme
    headers = [(b"host", b"a"), *([(b"x-forwarded-proto", said.encode())] if said else [])]
    scope = {"type": "http", "scheme": "ws", "headers": headers}
    source = entry_source(app(tmp_path, EntryKind.ASGI, "echo:asgi"), Interface.ASGI, proxied=True)
    ask = f"application({scope!r}, None, print), application({{'type': 'lifespan'}}, None, print)"
    printed = run(f"import asyncio\n{source}\n[asyncio.run(asked) for asked in ({ask})]", "'end'")
    assert printed.split() == [scheme, "None", "end"]


@pytest.mark.parametrize(("address", "scheme"), [("10.0.0.2", "https"), ("203.0.113.7", "http"), ("", "http")])
def test_deployed_the_scheme_is_what_a_proxy_says_and_nobody_else(tmp_path, address, scheme):
    """Some servers leave the scheme to the app, which may redirect for ever; uWSGI believes whoever says it."""
    (tmp_path / "echo.py").write_text(ECHO)
    wsgi = deployed_source(app(tmp_path, EntryKind.WSGI, "echo:wsgi"), Interface.WSGI, proxies=["10.0.0.0/24"])
    for by_server in ("http", "https"):
        environ = {"wsgi.url_scheme": by_server, "HTTP_X_FORWARDED_PROTO": "https", "REMOTE_ADDR": address}
        assert run(wsgi, f"application({environ!r}, None)") == scheme
    asgi = deployed_source(app(tmp_path, EntryKind.ASGI, "echo:asgi"), Interface.ASGI, proxies=["10.0.0.0/24"])
    scope = {
        "type": "http",
        "scheme": "http",
        "headers": [(b"x-forwarded-proto", b"https")],
        "client": (address, 5000),
    }
    asked = f"import asyncio\n{asgi}\nasyncio.run(application({scope!r}, None, print))"
    assert run(asked, "").split() == [scheme]


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


LAYOUTS = {
    "startproject": ("shop.settings", "shop.wsgi.application", "shop/asgi.py", "shop.asgi"),
    "no wsgi named": ("shop.settings", "", "shop/asgi.py", "shop.asgi"),
    "settings in folders": ("shop.conf.settings", "", "shop/asgi.py", "shop.asgi"),
    "settings apart": ("conf.settings", "shop.wsgi.application", "shop/asgi.py", "shop.asgi"),
    "all at the top": ("settings", "wsgi.application", "asgi.py", "asgi"),
    "a wsgi that is gone": ("settings", "gone.wsgi.application", "asgi.py", "asgi"),
    "no asgi.py": ("settings", "wsgi.application", "", "Django's own"),
    "no asgi.py in a package": ("shop.conf.settings", "shop.wsgi.application", "", "Django's own"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_asgi_of_a_django_project_is_found_wherever_its_settings_lie(tmp_path, layout):
    settings, wsgi, file, bound = LAYOUTS[layout]
    for package in ("shop", "shop/conf", "conf", "django", "django/conf", "django/core"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "django/conf/__init__.py").write_text(f"class settings:\n    WSGI_APPLICATION = {wsgi!r}\n")
    (tmp_path / "django/core/asgi.py").write_text('def get_asgi_application(): return "Django\'s own"')
    if file:
        (tmp_path / file).write_text("def application(): pass")
    source = entry_source(app(tmp_path, EntryKind.DJANGO, settings), Interface.ASGI)
    assert run(source, "getattr(application, '__module__', application)") == bound


def test_django_is_set_up_before_what_asgi_application_names_is_imported(tmp_path):
    (tmp_path / "django/conf").mkdir(parents=True)
    (tmp_path / "django/__init__.py").write_text("ready = []\ndef setup(set_prefix=True): ready.append(set_prefix)")
    (tmp_path / "django/conf/__init__.py").write_text(
        "class settings:\n    ASGI_APPLICATION = 'routing.application'"
    )
    (tmp_path / "routing.py").write_text("import django\nready = str(django.ready)\ndef application(): pass")
    source = entry_source(app(tmp_path, EntryKind.DJANGO, "shop.settings"), Interface.ASGI)
    assert run(source, "import_module('routing').ready") == "[False]"


def test_the_apps_environment_may_override_the_settings(tmp_path):
    project = app(tmp_path, EntryKind.DJANGO, "shop.settings", environment={"DJANGO_SETTINGS_MODULE": "shop.fast"})
    assert "'shop.fast'" in entry_source(project, Interface.WSGI)


def test_an_interface_the_app_does_not_offer_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be hosted as asgi"):
        entry_source(app(tmp_path, EntryKind.WSGI, "notes:app"), Interface.ASGI)
