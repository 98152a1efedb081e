"""An app that does not load within its server is told at once, with its own last words, by every host there is.

Some hosts end, some start workers again and again, and some live on and answer 500.
"""

import pytest
from tests.chains import single_hops
from tests.integration.farm import launchable

from stackrace.app.app import EntryKind, entry_of
from stackrace.deploy.launcher import LaunchFailed
from stackrace.measure.launch import FailureKind
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface

SPECS = catalogue().specs

# what tells a server's processes from the examination's
APP = """
import os

if os.environ.get("STACKRACE_COUNT"):
    import nowhere_to_be_found


def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]


async def asgi(scope, receive, send):
    while scope["type"] == "lifespan":
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"hello"})
"""

RACKUP = """
raise KeyError, "nowhere_to_be_found" if ENV["STACKRACE_COUNT"]
run ->(env) { [200, {"content-type" => "text/plain"}, ["hello"]] }
"""

HOSTS = {
    "wsgi": [
        *single_hops(SPECS, frozenset({Interface.WSGI})),
        "apache+mod_wsgi:mode=embedded",
        "apache:mpm=prefork+mod_wsgi:mode=embedded",
        "nginx/http/apache+mod_wsgi",
        "nginx/fastcgi/flup",
    ],
    "asgi": ["daphne", "granian", "gunicorn:class=asgi", "gunicorn:class=uvicorn", "hypercorn", "uvicorn"],
    "rack": ["puma", "apache+passenger", "apache+passenger:spawn_method=direct"],
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("interface", HOSTS)
def test_an_app_that_does_not_load_is_blamed_in_its_own_words(interface, tmp_path, django_python):
    kind = EntryKind(interface)
    (tmp_path / "config.ru").write_text(RACKUP)
    (tmp_path / "shop.py").write_text(APP)
    stacks = launchable(HOSTS[interface], frozenset({Interface(interface)}))
    if not stacks:
        pytest.skip(f"no host of {interface} apps is installed")
    request = RaceRequest(
        folder=tmp_path,
        entry=entry_of(kind, "config.ru" if kind is EntryKind.RACK else f"shop:{interface}"),
        python=None if kind is EntryKind.RACK else django_python,
        urls=("/",),
        stacks=tuple(stacks),
    )
    with set_up(request) as deployment:
        for stack in deployment.stacks:
            with pytest.raises(LaunchFailed) as failed:
                deployment.launcher.launch(stack)
            failure = failed.value.failure
            assert failure.kind is FailureKind.NOT_STARTED, failure
            assert "Error: " in failure.message, failure
            assert "nowhere_to_be_found" in failure.message, failure
