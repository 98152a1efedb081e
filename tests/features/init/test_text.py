"""The race file that ``init`` writes is read by ``run``, whatever names the project has."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.examination import Examination
from stackrace.app.examiner.messages import Database, PythonFacts, Survey
from stackrace.features.init.project_survey import ProjectSurvey
from stackrace.features.init.race_file_text import comment, document, quoted, race_file_text
from stackrace.race.preparation.pages import Page
from stackrace.race.request.race_file import read_race_file
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.setting import Interface

HERE = Path("/srv/shop")
PYTHON = HERE / ".venv" / "bin" / "python"
FACTS = PythonFacts(version="3.12.1", python=PYTHON, base=PYTHON, site_packages=())


def surveyed(*pages, root=HERE, static=None, name="shop", distributions=(), **listed):
    app = App(name=name, root=root, entry=entry_of(EntryKind.WSGI, "shop:app"), python=PYTHON)
    facts = replace(FACTS, distributions=dict.fromkeys(distributions, "1"))
    examination = Examination(
        entry=app.entry,
        interface=Interface.WSGI,
        python=facts,
        django=None,
        host="127.0.0.1",
        exchanges=(),
        survey=Survey(static=static or {}, **listed),
    )
    return ProjectSurvey(folder=root, app=app, examination=examination, pages=pages, notes=("One\nnote.",))


def read(tmp_path, survey, request=None, folder=HERE):
    text = race_file_text(survey, request or RaceRequest(folder=HERE), folder)
    (tmp_path / "race.toml").write_text(text, encoding="utf-8")
    return read_race_file(tmp_path / "race.toml", lambda stack: None), text


PAGES = (
    Page(path="/", status=200, seconds=0.012),
    Page(path="/books/", status=200, seconds=0.5, via="/books"),
    Page(path="/secret/", status=403, problem="/secret/ answers 403: it wants a login"),
    Page(path="/login/?next=/me/", status=200, via="/me/", is_main=False),
    Page(path="/logout/", problem="not asked for", is_main=False),
)


def test_pages_that_answer_are_raced_and_the_others_stand_in_comments(tmp_path):
    request, text = read(tmp_path, surveyed(*PAGES))
    assert request.urls == ("/", "/books/")
    assert '"/books/",   # 0.5 s, redirected from /books' in text
    assert '#   "/secret/"   # wants a login; 2 pages in all' in text
    assert '#   "/logout/"   # not asked for' in text
    assert "/login/" not in text
    assert "# One note." in text


def test_pages_that_are_not_raced_are_counted_by_reason_with_an_example(tmp_path):
    error = "/broken/ answers 500: ZeroDivisionError: division by zero"
    pages = (
        Page(path="/", status=200),
        *(Page(path=f"/login/?next=/{name}/", status=200, via=f"/{name}/", is_main=False) for name in "abc"),
        *(Page(path=f"/gone/{name}/", status=404, problem="answers 404") for name in "ab"),
        Page(path="/broken/", status=500, problem=error),
        Page(path="/host/", status=400, problem="/host/ answers 400: ALLOWED_HOSTS in shop is empty"),
        Page(path="/tls/", status=301, problem="/tls/ answers 301: it redirects to https"),
        *(Page(path=f"/late/{number}/", problem="not asked for: the time was over") for number in range(1500)),
    )
    _, text = read(tmp_path, surveyed(*pages))
    lines = text.partition("lists all:\n")[2].partition("\n\n")[0].splitlines()
    assert lines == [
        '#   "/a/"   # wants a login; 3 pages in all',
        '#   "/gone/a/"   # answers 404; 2 pages in all',
        '#   "/broken/"   # answers 500: ZeroDivisionError: division by zero',
        '#   "/host/"   # answers 400: ALLOWED_HOSTS in shop is empty',
        '#   "/tls/"   # answers 301: it redirects to https',
        '#   "/late/0/"   # not asked for: the time was over; 1,500 pages in all',
    ]


def test_the_app_its_interpreter_and_its_files_are_written(tmp_path):
    survey = surveyed(*PAGES, root=HERE / "src", static={"/static/": HERE / "src" / "shop" / "static"})
    request, text = read(tmp_path, survey)
    assert request.entry == entry_of(EntryKind.WSGI, "shop:app")
    assert 'root = "src"' in text
    assert 'python = "../.venv/bin/python"   # Python 3.12.1' in text
    assert 'static = { "/static/" = "shop/static" }' in text
    assert str(request.python).endswith("src/../.venv/bin/python")


def test_services_are_suggested_with_the_reason(tmp_path):
    _, text = read(tmp_path, surveyed(distributions=["asyncpg", "redis"]))
    assert '# services = ["postgresql", "redis"]   # asyncpg is installed; redis is installed.' in text
    assert '"services": [\n    "postgresql"' in document(surveyed(distributions=["psycopg"]))


def test_static_files_that_were_never_collected_name_the_command_that_does(tmp_path):
    _, text = read(tmp_path, surveyed(static_root="/srv/shop/collected"))
    assert "# STATIC_ROOT is /srv/shop/collected, which does not exist" in text
    assert 'until "python manage.py collectstatic --no-input" has run: add it to prepare' in text


def test_a_variables_file_is_named_relative_to_the_race_file(tmp_path):
    (tmp_path / ".env").touch()
    request, _ = read(
        tmp_path, surveyed(), RaceRequest(folder=tmp_path, env_files=(tmp_path / ".env",)), folder=tmp_path
    )
    assert request.env_files == (tmp_path / ".env",)


def test_an_app_without_a_page_still_gets_a_file(tmp_path):
    request, text = read(tmp_path, surveyed(Page(path="/", problem="/ answers 500")))
    assert request.urls is None
    assert "no page answered" in text


def test_a_prefix_that_no_server_takes_stands_in_a_comment(tmp_path):
    request, text = read(tmp_path, surveyed(static={"/a b{/": HERE / "static"}))
    assert request.static is None
    assert "# static = {" in text


TEXT = st.text(max_size=20)


@given(name=TEXT, problem=TEXT, path=TEXT.map(lambda text: "/" + quote(text)), place=TEXT)
def test_no_name_breaks_the_file(tmp_path_factory, name, problem, path, place):
    pages = (Page(path=path), Page(path="/x", problem=problem or "bad"))
    database = (Database(engine="postgresql", address=place),)
    survey = surveyed(*pages, name=name, databases=database, static_root=place)
    request, _ = read(tmp_path_factory.mktemp("race"), survey)
    assert request.urls == (path,)


@pytest.mark.parametrize("text", ["a\nb", "\x1b[31m", "\udce9", "\x7f", "\u2028"])
def test_what_is_written_is_printable(text):
    assert comment(text).isprintable()
    assert "\n" not in quoted(text)
