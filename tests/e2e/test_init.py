"""``init`` writes a race file that ``run`` races."""

import json
import sys

import pytest
from tests.raced import raced, told

SHOP = """
PAGES = {
    "/": b'<a href="/list/">list</a> <a href="/old">old</a> <a class=x href="/gone/?a=1&amp;b=2">gone</a>',
    "/list/": b"list",
    "/new/": b"new",
    "/sitemap.xml": b"<urlset><url><loc>https://shop.example.com/new/</loc></url></urlset>",
}


def app(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/old":
        start_response("302 Found", [("Location", "/list/")])
        return [b""]
    start_response("200 OK" if path in PAGES else "404 Not Found", [("Content-Type", "text/html")])
    return [PAGES.get(path, b"")]
"""

MANAGE = 'import os, sys\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")\n' + (
    "from django.core.management import execute_from_command_line\nexecute_from_command_line(sys.argv)\n"
)
SETTINGS = """
SECRET_KEY = "x"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.sites"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3"}}
SITE_ID = 1
"""
URLS = """
from django.contrib.sites.models import Site
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import include, path, re_path


def page(request, **_):
    return HttpResponse(Site.objects.get().domain)


urlpatterns = [
    path("", page),
    path("inner/", include([path("a/", page), path("<int:id>/", page)])),
    re_path(r"^plain/$", page),
    path("old/", lambda request: redirect("/inner/a/")),
    path("logout/", page),
    path("broken/", lambda request: 1 / 0),
]
"""


PATIENTLY = ("--time", "10min")
"""By default 25 s, in which a machine with much else to do may not answer one page."""


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "shop.py").write_text(SHOP)
    return tmp_path


def test_what_init_writes_is_raced(stackrace, brief, shop):
    done = stackrace("init", "--python", sys.executable, *PATIENTLY, cwd=shop)
    assert done.returncode == 0, done.stderr
    assert "3 pages to race" in done.stdout
    assert "Not raced: 1 page, such as /gone/?a=1&b=2: answers 404" in done.stdout
    text = (shop / "race.toml").read_text()
    assert 'wsgi = "shop:app"' in text
    assert '#   "/gone/?a=1&b=2"   # answers 404' in text
    short = ("--stack", "waitress", "--repeats", "1", "--requests", "60", "-c", "2", "--no-twin", "--json")
    document = raced(brief("run", "race.toml", *short, cwd=shop))
    assert told(document) == {"waitress"}


def test_a_sitemap_and_a_time_can_be_given(stackrace, shop):
    refused = stackrace("init", "--python", sys.executable, "--sitemap", "pages.xml", cwd=shop)
    assert refused.returncode == 2
    assert "--sitemap" in refused.stderr
    flags = ("--python", sys.executable, "--sitemap", "https://shop/list/", *PATIENTLY, "--json")
    done = stackrace("init", *flags, cwd=shop)
    # which names no page, so the links of the home page are asked for
    assert json.loads(done.stdout)["urls"] == ["/", "/list/"]


def test_a_race_file_is_not_overwritten_unless_forced(stackrace, shop):
    (shop / "race.toml").write_text("# mine\n")
    refused = stackrace("init", "--python", sys.executable, cwd=shop)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert (shop / "race.toml").read_text() == "# mine\n"
    printed = stackrace("init", "--python", sys.executable, "--stdout", cwd=shop)
    assert printed.stdout.startswith("# What to race")
    assert (shop / "race.toml").read_text() == "# mine\n"
    assert stackrace("init", "--python", sys.executable, "--force", cwd=shop).returncode == 0
    assert "[app]" in (shop / "race.toml").read_text()


def test_django_is_asked_for_its_pages_after_a_migration_of_copies(stackrace, tmp_path):
    for name, text in {"manage.py": MANAGE, "settings.py": SETTINGS, "urls.py": URLS}.items():
        (tmp_path / name).write_text(text)
    done = stackrace("init", "--python", sys.executable, "--json", *PATIENTLY, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["app"]["django"] == "settings"
    problems = {page["path"]: page["problem"] for page in found["pages"] if page["problem"]}
    assert problems.keys() == {"/logout/", "/broken/", "/inner/<int:id>/"}, problems
    assert found["urls"] == ["/", "/plain/", "/inner/a/"]
    assert "ZeroDivisionError" in problems["/broken/"]
    assert {path.name for path in tmp_path.iterdir()} == {"manage.py", "settings.py", "urls.py"}


def test_a_folder_without_an_app_gets_no_file(stackrace, tmp_path):
    done = stackrace("init", cwd=tmp_path)
    assert done.returncode == 2
    assert "no app" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_routes_of_a_framework_are_pages(stackrace, tmp_path):
    (tmp_path / "requirements.txt").write_text("flask\n")
    routes = "".join(
        f'app.get("{path}", endpoint="{path}")(lambda **_: "hello")\n' for path in ("/", "/list", "/items/<int:id>")
    )
    (tmp_path / "site_app.py").write_text(f"from flask import Flask\napp = Flask(__name__)\n{routes}")
    done = stackrace("init", "--json", *PATIENTLY, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["urls"] == ["/", "/list"]
