"""What a first ``stackrace run`` meets: small apps of real frameworks, in an environment of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from stackrace.app.app import EntryKind, entry_of
from stackrace.app.entry import entry_source
from stackrace.base.errors import AppError, InputError
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.guard import Guard
from stackrace.deploy.preparing import Step
from stackrace.deploy.seeding import prepare
from stackrace.features.init.project_survey import survey_project
from stackrace.race.preparation.app_examination import examined_app
from stackrace.race.preparation.chosen_app import asked_app, protected_project
from stackrace.race.preparation.pages import Crawling
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.setting import Interface

REQUIREMENTS = "fastapi\naiohttp\nbottle\nflask\nchannels\nDjango>=5.2,<6\n"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    file = tmp_path_factory.mktemp("apps") / "requirements.txt"
    file.write_text(REQUIREMENTS)
    try:
        return Environments(cache_folder(), lambda _: None).of_requirements(
            file, Path(sys._base_executable), UNPROTECTED
        )
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture
def project(tmp_path):
    def write(**files):
        folder = tmp_path / "project"
        folder.mkdir()
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text)
        return folder

    return write


def loaded(folder, python, **asked):
    request, heard = RaceRequest(folder=folder, python=python, **asked), []
    with Guard() as guard:
        asked = asked_app(request)
        app = examined_app(
            request,
            asked,
            Environments(cache_folder(), str),
            protected_project(request, asked, guard, heard.append),
            folder / "data",
            {},
            heard.append,
            lambda app: prepare(app, guard),
        )
        # the answer is kept; the app is asked as long as there is a view
        app.needs_lifespan()
    return app, [preparing.subject for preparing in heard if preparing.step is Step.CHOSEN]


def paths(app):
    return [request.path for request in app.workloads[0].requests]


API = """
from fastapi import APIRouter, FastAPI

app = FastAPI(docs_url="/swagger")


@app.get("/items")
def items():
    return [1, 2]


@app.get("/hidden", include_in_schema=False)
def hidden():
    return {"a": 1}


@app.get("/wants")
def wants(a: int):
    return a


router = APIRouter(prefix="/inner")


@router.get("/more")
def more():
    return 3


app.include_router(router, prefix="/v1")
"""


@pytest.mark.exhaustive
def test_an_api_without_a_home_page_is_raced_at_the_pages_that_init_would_write(project, python):
    folder = project(app=API)
    app, said = loaded(folder, python)
    assert paths(app) == ["/items", "/hidden", "/v1/inner/more"]
    assert said == [
        "/ answers 404, so 3 pages are raced in turn: /items, /hidden, /v1/inner/more; choose with --url."
    ]
    assert said[0] in app.notes
    survey = survey_project(RaceRequest(folder=folder, python=python), crawling=Crawling())
    assert [page.path for page in survey.raced] == paths(app)


AIOHTTP = "from aiohttp import web\napp = web.Application()\n"
BARE = """
from flask import Blueprint, Flask

app = Flask(__name__)
pages = Blueprint("pages", __name__)
pages.get("/")(lambda: "home")


def create_app():
    app.register_blueprint(pages)
    return app
"""


@pytest.mark.parametrize(
    ("text", "kind", "target", "words"),
    [
        (AIOHTTP, "wsgi", "app:app", "app:app (aiohttp.web_app.Application) is neither a WSGI nor an ASGI app"),
        (AIOHTTP, "asgi", "app:app", "aiohttp brings the only server that runs it"),
        (API, "wsgi", "app:app", "has the interface ASGI, not WSGI; give --asgi app:app ([app] asgi)"),
        (BARE, "asgi", "app:app", "has the interface WSGI, not ASGI; give --wsgi app:app ([app] wsgi)"),
        (BARE, "wsgi", "app:create_app", "if it makes one, give --wsgi 'app:create_app()' ([app] wsgi)"),
    ],
)
def test_what_is_no_application_of_its_interface_is_told_what_it_is(project, python, text, kind, target, words):
    with pytest.raises(AppError) as raised:
        loaded(project(app=text), python, entry=entry_of(EntryKind(kind), target))
    assert words in raised.value.message
    assert not raised.value.detail


LIFESPAN = """
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request


@asynccontextmanager
async def lifespan(app):
    app.state.greeting = "hi"
    yield


app = FastAPI(lifespan=lifespan)


@app.get("/")
def home(request: Request):
    return {answer}
"""


@pytest.mark.parametrize(
    ("answer", "failing"),
    [("request.app.state.greeting", "/ answers 500"), pytest.param("'hi'", "", marks=pytest.mark.exhaustive)],
)
def test_whether_an_app_needs_its_lifespan_is_asked_of_the_app(project, python, answer, failing):
    app, _ = loaded(project(app=LIFESPAN.replace("{answer}", answer)), python)
    assert app.needs_lifespan() == failing


CHANNELS = {
    "settings": """
SECRET_KEY = "x"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["channels"]
ASGI_APPLICATION = "routing.application"
""",
    "urls": """
from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("", lambda request: HttpResponse("home"))]
""",
    "routing": """
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

application = ProtocolTypeRouter({"http": get_asgi_application(), "websocket": URLRouter([])})
""",
}


TWO_CALLS = """
from django.core.asgi import get_asgi_application


class Router:
    def __call__(self, scope):
        async def answer(receive, send):
            await get_asgi_application()(scope, receive, send)

        return answer


application = Router()
"""


def test_an_application_of_two_calls_is_hosted_as_one_of_a_single_call(project, python):
    folder = project(**CHANNELS | {"routing": TWO_CALLS})
    app, _ = loaded(folder, python, entry=entry_of(EntryKind.DJANGO, "settings"))
    assert app.interfaces == {Interface.WSGI, Interface.ASGI}
    shown = "\nfrom inspect import iscoroutinefunction\nprint(iscoroutinefunction(application))"
    source = entry_source(app.project, Interface.ASGI) + shown
    done = subprocess.run([python, "-c", source], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize(("key", "routes"), [("websocket", True), ("other", False)])
def test_web_sockets_that_channels_routes_are_seen(project, python, key, routes):
    folder = project(**CHANNELS | {"routing": CHANNELS["routing"].replace('"websocket":', f'"{key}":')})
    app, _ = loaded(folder, python, entry=entry_of(EntryKind.DJANGO, "settings"))
    assert paths(app) == ["/"]
    assert app.django.web_sockets is routes
