"""Real applications, examined by their own interpreter in a process of their own."""

import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from tests.unprotected import examine

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.bundle import bundled
from stackrace.app.environment import app_environment
from stackrace.app.golden import golden
from stackrace.app.projects.detection import detect
from stackrace.base.errors import AppError
from stackrace.measure.workload import Request, Sameness

EXAMPLES = Path(__file__).parents[2] / "examples"
PYTHON = Path(sys.executable)
PLAIN = "def app(environ, start_response):\n    start_response('200 OK', [])\n    return [{body}]\n"


def requests(*paths):
    return [Request(path=path) for path in paths]


def prepare(app, *commands):
    for command in commands:
        subprocess.run(command, cwd=app.root, env=app_environment(app), check=True, capture_output=True)
    return app


def scratch(folder, kind, target, python=PYTHON, **files):
    """Write ``files`` (module name → text) into ``folder`` and return the app."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    return App(name="scratch", root=folder, entry=entry_of(kind, target), python=python)


def site(folder, python, views="", **settings):
    """Write a Django project of two modules into ``folder``; ``views`` are the lines of its URLs' module."""
    chosen = {"SECRET_KEY": "x" * 50, "ROOT_URLCONF": "urls", "ALLOWED_HOSTS": ["*"]} | settings
    lines = "\n".join(f"{name} = {value!r}" for name, value in chosen.items())
    head = "from django.http import HttpResponse\nfrom django.urls import path\n"
    views = textwrap.dedent(views) or 'urlpatterns = [path("", lambda request: HttpResponse("hello"))]'
    return scratch(folder, EntryKind.DJANGO, "settings", python, settings=lines, urls=head + views)


def is_alive(pid):
    """Tell whether the process ``pid`` runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def refused(app, *paths, **options):
    with pytest.raises(AppError) as raised:
        golden(examine(app, requests(*paths), **options))
    return raised.value


@pytest.fixture(scope="module")
def pages(django_python, tmp_path_factory):
    """The bundled app, migrated."""
    app = bundled().app(python=django_python, data=tmp_path_factory.mktemp("pages"))
    return prepare(app, *app.prepare)


@pytest.fixture(scope="module")
def bookshop(django_python, tmp_path_factory):
    """A copy of the bookshop, migrated and with its static files collected."""
    root = tmp_path_factory.mktemp("user") / "bookshop"
    shutil.copytree(EXAMPLES / "bookshop", root, ignore=shutil.ignore_patterns("db.sqlite3", "staticfiles"))
    project = detect(root, {})
    app = App(name=root.name, root=project.root, entry=project.entry, python=django_python)
    manage = ("python", "manage.py")
    return prepare(app, (*manage, "migrate"), (*manage, "collectstatic", "--no-input"))


def test_the_bundled_pages_are_as_long_as_the_comparisons_say(pages):
    compared = ("/hello/", "/ctime/", "/ten-kilobytes/", "/random-row/", "/static/pages/site.css")
    workload = golden(examine(pages, requests(*compared)))
    found = {
        request.path: (len(answer.body), answer.sameness)
        for request, answer in zip(workload.requests, workload.answers, strict=True)
    }
    css = (bundled().root / "pages/static/pages/site.css").stat().st_size
    assert found == {
        "/hello/": (13, Sameness.BODY),
        "/ctime/": (24, Sameness.PARTS),
        "/ten-kilobytes/": (10_000, Sameness.BODY),
        "/random-row/": (2_500, Sameness.LENGTH),
        "/static/pages/site.css": (css, Sameness.BODY),
    }


def test_the_bundled_app_writes_nothing_beside_its_code(pages):
    golden(examine(pages, requests("/random-row/")))
    assert not list(pages.root.rglob("*.sqlite3"))


def test_the_bundled_app_answers_the_same_over_asgi(pages):
    asgi = App(
        name="asgi",
        root=pages.root,
        entry=entry_of(EntryKind.ASGI, "sample.asgi:application"),
        python=pages.python,
        environment={**pages.environment, "DJANGO_SETTINGS_MODULE": "sample.settings"},
    )
    paths = requests("/hello/", "/ten-kilobytes/", "/static/pages/site.css")
    assert golden(examine(asgi, paths)).answers == golden(examine(pages, paths)).answers


def test_the_environment_of_the_app_is_described(pages):
    found = examine(pages, requests("/hello/"))
    assert any((folder / "django").is_dir() for folder in found.python.site_packages)
    assert found.python.base.is_file()
    assert {"Django", "Flask"} <= set(found.python.distributions)
    assert not found.debug
    assert "/hello/" in found.django.routes


def test_a_foreign_project_is_raced_under_its_own_name(bookshop):
    found = examine(bookshop, requests("/", "/books/?page=3", "/static/catalogue/shop.css"))
    workload = golden(found)
    assert workload.host == "shop.example.com"
    assert [answer.status for answer in workload.answers] == [200, 200, 200]
    assert b"Page 3 of 12" in workload.answers[1].body
    assert workload.answers[2].content_type == "text/css"
    assert found.static == {"/static/": bookshop.root / "staticfiles"}


def test_a_foreign_host_is_refused_in_words(bookshop):
    assert "shop.example.com" in refused(bookshop, "/", host="other.example.com").message


def test_the_flask_example_answers(django_python):
    app = scratch(EXAMPLES / "flask_notes", EntryKind.WSGI, "notes:app", django_python)
    answers = golden(examine(app, requests("/", "/notes/milk"))).answers
    assert {answer.content_type for answer in answers} == {"application/json"}


def test_the_asgi_example_needs_nothing_but_python():
    app = scratch(EXAMPLES / "asgi_clock", EntryKind.ASGI, "clock:app")
    found = examine(app, requests("/", "/age"))
    assert found.django is None
    assert [answer.sameness for answer in golden(found).answers] == [Sameness.PARTS, Sameness.PARTS]


ROUTED = """
from types import SimpleNamespace


class Framework:
    routes = [SimpleNamespace(path=path, methods=["GET"]) for path in ("/", "/items")]

    def __call__(self, environ, start_response):
        start_response("200 OK", [])
        return [b"hello"]


class AsyncFramework(Framework):
    async def __call__(self, scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})


wsgi, asgi = Framework(), AsyncFramework()
"""


@pytest.mark.parametrize("kind", [EntryKind.WSGI, EntryKind.ASGI])
def test_a_framework_is_asked_for_its_pages(tmp_path, kind):
    app = scratch(tmp_path, kind, f"shop:{kind}", shop=ROUTED)
    assert examine(app, requests("/"), survey=True).survey.pages == ("/", "/items")


def test_a_broken_import_shows_the_apps_own_traceback(tmp_path):
    error = refused(scratch(tmp_path, EntryKind.WSGI, "shop:app", shop="import nothing_of_that_name\n"))
    assert "importing it failed: ModuleNotFoundError" in error.message
    assert f'File "{tmp_path}/shop.py", line 1' in error.detail
    assert "examiner" not in error.detail
    assert "importlib" not in error.detail


def test_broken_settings_are_told_from_a_broken_app(tmp_path, django_python):
    error = refused(scratch(tmp_path, EntryKind.DJANGO, "settings", django_python, settings="1 / 0\n"))
    assert "loading its settings failed: ZeroDivisionError" in error.message


@pytest.mark.parametrize("end", ["sys.exit('no config')", "os._exit(3)"])
def test_an_app_that_ends_its_process_is_an_error(tmp_path, end):
    text = f"import os, sys\nprint('reading config', flush=True)\n{end}\n"
    error = refused(scratch(tmp_path, EntryKind.WSGI, "shop:app", shop=text))
    assert "importing it" in error.message
    assert "no config" in error.detail or "reading config" in error.detail


def test_a_server_error_shows_the_traceback_of_django_once(tmp_path, django_python):
    views = """
        def broken(request):
            raise LookupError("the shelf is empty")
        urlpatterns = [path("", broken)]
    """
    error = refused(site(tmp_path, django_python, views))
    assert error.message == "/ answers 500: LookupError: the shelf is empty (urls.py, line 5)"
    assert error.detail.count("LookupError: the shelf is empty") == 1
    assert "urls.py" in error.detail


def test_a_server_error_of_another_framework_shows_its_traceback(tmp_path, django_python):
    text = """
        from flask import Flask
        app = Flask(__name__)
        @app.get("/")
        def broken():
            raise LookupError("the shelf is empty")
    """
    error = refused(scratch(tmp_path, EntryKind.WSGI, "shop:app", django_python, shop=text))
    assert error.detail.count("LookupError: the shelf is empty") == 1


@pytest.mark.exhaustive
def test_a_hang_at_import_shows_where(tmp_path):
    text = "import threading\nthreading.Event().wait()\n"
    error = refused(scratch(tmp_path, EntryKind.WSGI, "shop:app", shop=text), timeout_s=10.0)
    assert "importing it did not end in time" in error.message
    assert f'File "{tmp_path}/shop.py", line 2' in error.detail


@pytest.mark.exhaustive
def test_a_page_that_hangs_is_named(tmp_path):
    text = "import threading\ndef app(environ, start_response):\n    threading.Event().wait()\n"
    error = refused(scratch(tmp_path, EntryKind.WSGI, "shop:app", shop=text), "/slow", timeout_s=1800.0)
    assert "answering GET /slow did not end within 20 s, as a page must to be raced" in error.message


def test_what_the_app_starts_ends_with_it(tmp_path):
    text = """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
        def app(environ, start_response):
            start_response("200 OK", [])
            return [str(child.pid).encode()]
    """
    child = int(golden(examine(scratch(tmp_path, EntryKind.WSGI, "shop:app", shop=text))).answers[0].body)
    while is_alive(child):  # a kill takes effect when the kernel gets round to it
        time.sleep(0.01)


def test_printing_and_changing_folders_do_no_harm(tmp_path):
    text = """
        import os, sys
        print('{"python": "mine"}'); print("stage nonsense", file=sys.stderr)
        os.chdir("/"); sys.stdout.close()
        def app(environ, start_response):
            start_response("200 OK", [])
            return [b"fine"]
    """
    app = scratch(tmp_path, EntryKind.WSGI, "shop:app", shop=text)
    assert golden(examine(app)).answers[0].body == b"fine"


def test_no_module_of_the_examiner_stands_in_the_way_of_the_apps_own(tmp_path):
    names = ("wsgi", "messages", "hosts", "installation")
    files = {name: f"NAME = {name!r}\n" for name in names}
    text = f"import {', '.join(names)}\n" + PLAIN.format(body="wsgi.NAME.encode()")
    app = scratch(tmp_path, EntryKind.WSGI, "shop:app", shop=text, **files)
    assert golden(examine(app)).answers[0].body == b"wsgi"


def test_debug_is_noted(tmp_path, django_python):
    found = examine(site(tmp_path, django_python, DEBUG=True, ALLOWED_HOSTS=[]))
    assert found.debug
    assert golden(found).host in {"localhost", "127.0.0.1"}
    assert "Debug mode is on in settings" in found.notes[0]


def test_settings_may_look_for_a_command(tmp_path, django_python):
    project = site(tmp_path, django_python, ALLOWED_HOSTS=["*"])
    with (tmp_path / "settings.py").open("a") as file:
        file.write("\nimport sys\nCOLLECTS = sys.argv[1] == 'collectstatic'\n")
    assert golden(examine(project)).answers[0].status == 200


@pytest.mark.parametrize("wrapped", ["app", "Wrapper(app)"])
def test_debug_mode_of_a_framework_is_noted(tmp_path, wrapped):
    text = f"""
        class Framework:
            debug, url_map = True, None

            def __call__(self, environ, start_response):
                start_response("200 OK", [("Content-Type", "text/plain")])
                return [b"hello"]

        class Wrapper:
            debug = "of its own"

            def __init__(self, app):
                self.app = app

            def __call__(self, environ, start_response):
                return self.app(environ, start_response)

        app = Framework()
        served = {wrapped}
    """
    found = examine(scratch(tmp_path, EntryKind.WSGI, "shop:served", shop=text))
    assert "Debug mode is on in shop:served" in found.notes[0]


def test_no_allowed_host_at_all_is_explained(tmp_path, django_python):
    project = site(
        tmp_path, django_python, ALLOWED_HOSTS=[], MIDDLEWARE=["django.middleware.common.CommonMiddleware"]
    )
    assert "ALLOWED_HOSTS in settings is empty" in refused(project).message


def test_the_start_page_may_redirect(tmp_path, django_python):
    views = """
        from django.shortcuts import redirect
        urlpatterns = [
            path("", lambda request: redirect("/books/")),
            path("books/", lambda request: HttpResponse("books")),
        ]
    """
    project = site(tmp_path, django_python, views)
    found = examine(project)
    assert golden(found).requests == (Request(path="/books/"),)
    assert found.notes == ("/ redirects to /books/, which is raced.",)
    assert "redirects to /books/" in refused(project, "/").message


HTTPS = {"SECURE_SSL_REDIRECT": True, "MIDDLEWARE": ["django.middleware.security.SecurityMiddleware"]}


def test_an_https_site_behind_a_proxy_gets_the_proxys_header(tmp_path, django_python):
    trusted = ("HTTP_X_FORWARDED_PROTO", "https")
    workload = golden(examine(site(tmp_path, django_python, **HTTPS, SECURE_PROXY_SSL_HEADER=trusted)))
    assert workload.requests[0].headers == (("X-Forwarded-Proto", "https"), ("X-Forwarded-For", "127.0.0.1"))
    assert workload.answers[0].body == b"hello"


def test_an_https_site_without_a_proxy_is_told_what_to_set(tmp_path, django_python):
    assert "SECURE_PROXY_SSL_HEADER" in refused(site(tmp_path, django_python, **HTTPS)).message


def test_an_interpreter_that_cannot_start_names_the_flag(tmp_path):
    app = scratch(tmp_path, EntryKind.WSGI, "shop:app", Path("/nowhere/python"), shop="")
    assert "--python" in refused(app).message


def test_nothing_of_the_examination_stays_open(tmp_path):
    app = scratch(tmp_path, EntryKind.WSGI, "shop:app", shop="import nothing_of_that_name\n")
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))
    refused(app)
    assert len(list(descriptors.iterdir())) == before
