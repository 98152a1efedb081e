"""Which app is raced, and what is said when there is none to be found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from stackrace.app.app import EntryKind, entry_of
from stackrace.base.errors import AppError, InputError
from stackrace.deploy.environments import Environments
from stackrace.deploy.guard import Guard
from stackrace.deploy.seeding import prepare
from stackrace.race.preparation.app_examination import _static, examined_app
from stackrace.race.preparation.chosen_app import asked_app, protected_project
from stackrace.race.preparation.pages import Page
from stackrace.race.preparation.pages import raced as raced_pages
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.setting import Interface


def load(folder, beside=None, on_preparing=str, **asked):
    request = RaceRequest(folder=folder, **asked)
    environments, found = Environments(folder / "cache", str), asked_app(request)
    with Guard() as guard:
        return examined_app(
            request,
            found,
            environments,
            protected_project(request, found, guard, str),
            folder / "data",
            beside or {},
            on_preparing,
            lambda app: prepare(app, guard),
        )


def test_plain_files_are_loaded_without_any_interpreter(tmp_path):
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "index.html").write_text("<p>home")
    loaded = load(tmp_path, entry=entry_of(EntryKind.FILES, "public/"))
    assert (loaded.app.root, loaded.app.entry.target) == (tmp_path / "public", ".")
    assert (loaded.app.python, loaded.app.ruby, loaded.interpreter) == (None, None, None)
    assert loaded.workloads[0].answers[0].body == b"<p>home"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"entry": entry_of(EntryKind.FILES, "public/")}, r"no folder .*/public; set \[app\] files"),
        ({"entry": entry_of(EntryKind.RACK, "config.ru")}, r"no .*/config.ru; set \[app\] rack"),
        (
            {"entry": entry_of(EntryKind.RACK, "here.ru"), "ruby": Path("no/ruby")},
            r"not an interpreter \(\[app\] ruby\)",
        ),
    ],
)
def test_what_is_not_there_names_its_key(tmp_path, asked, words):
    (tmp_path / "here.ru").touch()
    with pytest.raises(InputError, match=words):
        load(tmp_path, **asked)


@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        ({}, {Interface.RACK}),
        ({"bundled": "django"}, {Interface.WSGI, Interface.ASGI}),
        ({"entry": entry_of(EntryKind.FILES, "public/")}, {Interface.FILES}),
    ],
)
def test_what_the_app_offers_is_known_before_anything_starts(tmp_path, asked, offered):
    (tmp_path / "config.ru").touch()
    assert asked_app(RaceRequest(folder=tmp_path, **asked)).offered == offered
    if not asked:
        (tmp_path / "config.ru").unlink()
        assert asked_app(RaceRequest(folder=tmp_path)).offered == {Interface.WSGI, Interface.ASGI}


def test_a_root_that_is_not_there_names_its_key(tmp_path):
    for kind, target in ((EntryKind.FILES, "."), (EntryKind.RACK, "config.ru"), (EntryKind.WSGI, "a:b")):
        with pytest.raises(InputError, match=r"does not exist; set \[app\] root"):
            load(tmp_path / "nowhere", entry=entry_of(kind, target))


def test_a_static_url_that_no_server_could_be_given_is_refused_by_name():
    facts = SimpleNamespace(static={"/a$b/": Path("/srv")})
    with pytest.raises(InputError, match=r"STATIC_URL: '/a\$b/' has '\$'.*\[app\] static = {}"):
        _static(RaceRequest(folder=Path()), SimpleNamespace(static={}), facts)
    assert _static(RaceRequest(folder=Path(), static={}), SimpleNamespace(static={}), facts) == {}


ANSWERS = """
def app(environ, start_response):
    start_response("200 OK", [])
    return [b"x"]
"""


def test_a_folder_of_static_files_is_there_once_the_app_is_prepared(tmp_path):
    (tmp_path / "shop.py").write_text(ANSWERS)
    asked = {"python": Path(sys.executable), "static": {"/static/": tmp_path / "collected"}}
    with pytest.raises(AppError, match=r"\[app\] static: there is no folder .*collected for /static/.* prepare = "):
        load(tmp_path, **asked)
    with pytest.raises(AppError, match=r"shop\.py for /static/ is a file.* static = \{ \"/static/\" = "):
        load(tmp_path, **asked | {"static": {"/static/": tmp_path / "shop.py"}})
    assert load(tmp_path, **asked, prepare=(("mkdir", "collected"),)).app.static


WANTS_A_SECRET = """
import os

SECRET = os.environ["SHOP_SECRET"]


def app(environ, start_response):
    start_response("200 OK", [])
    return [SECRET.encode()]
"""


def test_a_variable_in_a_file_beside_the_app_is_asked_for_and_then_used(tmp_path):
    (tmp_path / "shop.py").write_text(WANTS_A_SECRET)
    (tmp_path / ".env").write_text("SHOP_SECRET=from-the-file\n")
    with pytest.raises(
        InputError, match=r"KeyError: 'SHOP_SECRET' \(shop.py, line 4\); there is a \.env here: --env-file .*\.env"
    ):
        load(tmp_path, python=Path(sys.executable))
    loaded = load(tmp_path, python=Path(sys.executable), env_files=(tmp_path / ".env",))
    assert loaded.workloads[0].answers[0].body == b"from-the-file"
    assert "shop:app, found in shop.py, line 7" in loaded.notes[0]
    given = {"env_files": (tmp_path / ".env",), "environment": {"SHOP_SECRET": "given"}}
    assert load(tmp_path, python=Path(sys.executable), **given).workloads[0].answers[0].body == b"given"
    service = load(
        tmp_path, {"SHOP_SECRET": "service"}, python=Path(sys.executable), env_files=(tmp_path / ".env",)
    )
    assert service.workloads[0].answers[0].body == b"service", "a race's service wins over the user's file"


PAGES = """
import os

STATUS, ASKED = {status!r}, {asked!r}


def app(environ, start_response):
    path = environ["PATH_INFO"]
    status = STATUS.get(path, "404 Not Found")
    with open(ASKED, "a") as file:
        print(path, file=file)
    if status == "302 Found" or (status == "once" and open(ASKED).read().split().count(path) > 3):
        start_response("302 Found", [("Location", "/elsewhere/")])
    else:
        start_response("200 OK" if status == "once" else status, [])
    if path == "/sitemap.xml":
        return [b"".join(b"<loc>http://x%s</loc>" % page.encode() for page in STATUS if page[1:])]
    if status[0] == "5":
        raise RuntimeError("is down")
    return [b"page"]
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return what loads a site of pages with these statuses, all but "/" named in its sitemap."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # the only folder here that an app shares with us
    (tmp_path / "stackrace").mkdir()

    def write(**asked):
        pages = asked.pop("pages")
        (tmp_path / "site").mkdir(exist_ok=True)
        text = PAGES.format(status=pages | {"/sitemap.xml": "200 OK"}, asked=str(tmp_path / "stackrace" / "asked"))
        (tmp_path / "site" / "shop.py").write_text(text)
        return load(tmp_path / "site", python=Path(sys.executable), **asked)

    return write


def raced(loaded):
    return [request.path for request in loaded.workloads[0].requests]


def test_the_main_pages_are_raced_where_nobody_names_any(site):
    pages = dict.fromkeys(["/", *(f"/{letter}" for letter in "abcdefgh")], "200 OK")
    loaded = site(pages=pages | {"/admin/": "200 OK", "/a": "404 Not Found"})
    assert raced(loaded) == ["/", "/b", "/c", "/d", "/e"]
    assert any("5 pages are raced in turn: /, /b, /c, /d, /e; choose with --url" in note for note in loaded.notes)


def test_pages_once_chosen_are_raced_until_one_fails_or_they_are_chosen_anew(site, tmp_path):
    pages = dict.fromkeys(["/", "/a", "/b"], "200 OK")
    assert raced(site(pages=pages)) == ["/", "/a", "/b"]
    grown = {"/": "200 OK", "/new": "200 OK", **pages}
    again = site(pages=grown)
    assert raced(again) == ["/", "/a", "/b"]
    assert any("3 pages are raced in turn, as in the last race: /, /a, /b; choose" in note for note in again.notes)
    assert raced(site(pages=grown, new_pages=True)) == ["/", "/new", "/a", "/b"] == raced(site(pages=grown))
    heard = []
    assert raced(site(pages=grown | {"/a": "404 Not Found"}, on_preparing=heard.append)) == ["/", "/new", "/b"]
    lost = "/a of the last race cannot be raced any more (answers 404); pages are chosen anew."
    assert lost in [each.subject for each in heard]
    (kept,) = (tmp_path / "stackrace" / "pages").iterdir()
    assert kept.read_text().split() == ["/", "/new", "/b"]


def test_a_page_to_which_another_leads_is_raced_once_and_pages_for_monitors_come_last():
    login = Page(path="/login/?next=/", status=200, via="/")
    others = [Page(path=path, status=200) for path in ("/login/", "/healthz/", "/a", "/b")]
    assert [page.path for page in raced_pages([login, *others], most=3)] == ["/login/?next=/", "/a", "/b"]
    assert [page.path for page in raced_pages([login, *others])] == ["/login/?next=/", "/healthz/", "/a", "/b"]
    assert "/login/" in [page.path for page in raced_pages([login, *others], named=("/login/",))]


def test_a_home_page_alone_is_said_beside_what_is_left_out(site):
    only = "Only / is raced; left out as no pages for visitors: /admin/, /sitemap.xml; choose with --url."
    notes = site(pages={"/": "200 OK", "/admin/": "200 OK"}).notes
    assert only in notes
    assert any("/ is raced, as in the last race; choose" in note for note in site(pages={"/": "200 OK"}).notes)
    led = site(pages={"/": "200 OK", "/admin/": "302 Found", "/elsewhere/": "200 OK"}, new_pages=True).notes
    assert not any("Only / is raced" in note and "elsewhere" in note for note in led)


def test_a_page_that_is_named_is_raced_alone(site, tmp_path):
    loaded = site(pages=dict.fromkeys(["/", "/a", "/b"], "200 OK"), urls=("/b",))
    assert raced(loaded) == ["/b"]
    assert set((tmp_path / "stackrace" / "asked").read_text().split()) == {"/b"}


def test_a_home_page_that_fails_is_not_passed_over_for_others(site):
    with pytest.raises(AppError, match=r"^/ answers 500: RuntimeError: is down\b"):
        site(pages={"/": "500 Oops", "/a": "200 OK"})


def test_where_no_page_answers_the_one_that_can_be_mended_is_told_of(site):
    with pytest.raises(AppError, match=r"^/b answers 500: RuntimeError: is down\b"):
        site(pages={"/a": "404 Not Found", "/b": "500 Oops"})


def test_a_page_that_nobody_named_may_fail_the_second_time(site):
    assert raced(site(pages={"/a": "200 OK", "/b": "once"})) == ["/a"]


@pytest.mark.parametrize("place", ["/", "/proc", "/proc/self/maps", "/sys/kernel", "/dev/null"])
def test_what_the_kernel_makes_cannot_be_protected(tmp_path, place):
    entry = entry_of(EntryKind.WSGI, "shop:app")
    with pytest.raises(InputError, match=r"\[app\] protect: .*; name the folders on a disk"):
        load(tmp_path, entry=entry, protect=(Path(place),))


@pytest.fixture
def new_project(tmp_path):
    """A project as Django makes it, whose only page is Django's own."""
    subprocess.run([sys.executable, "-m", "django", "startproject", "shop", str(tmp_path)], check=True)
    return tmp_path


@pytest.mark.parametrize("asked", [{}, {"urls": ("/",)}])
def test_djangos_welcome_page_is_named_and_how_to_race_another(new_project, asked):
    loaded = load(new_project, python=Path(sys.executable), **asked)
    (note,) = (note for note in loaded.notes if "welcome page" in note)
    assert note.startswith("/ is Django's own welcome page") and "--url" in note


def test_routes_with_parameters_are_told_once_and_not_in_the_report(new_project):
    (new_project / "shop" / "urls.py").write_text(
        "from django.http import HttpResponse\n"
        "from django.urls import include, path, re_path\n"
        "def page(request, **given):\n"
        "    return HttpResponse('page')\n"
        "urlpatterns = [path('', page), path('items/<int:id>/', page),\n"
        "    path('shops/<slug:name>/', include([re_path(r'^day/(?P<day>[0-9]{2})/$', page)]))]\n"
    )
    said = []
    loaded = load(new_project, python=Path(sys.executable), on_preparing=lambda step: said.append(step.subject))
    told = (
        "Not raced: 2 routes with parameters, such as /items/<int:id>/; name a page of one, as in --url /items/1/."
    )
    assert said.count(told) == 1
    assert not [note for note in loaded.notes if "parameters" in note or "welcome" in note]
