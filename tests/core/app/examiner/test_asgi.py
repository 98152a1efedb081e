import asyncio
from contextlib import closing

import pytest

from stackrace.app.examiner.callers import AsgiCaller, _Body, _scope_of
from stackrace.app.examiner.messages import WireRequest

HOST = (("Host", "127.0.0.1"),)
MOST_BYTES = 1000


@pytest.fixture(autouse=True)
def _restore_the_event_loop():
    yield
    asyncio.set_event_loop(None)


def ask(application, path="/", body=b""):
    with closing(AsgiCaller(application, MOST_BYTES)) as caller:
        return caller.call(WireRequest("POST", path, HOST, body))


async def respond(send, *chunks):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"A", b"b")]})
    for chunk in chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body"})


def test_bodies_go_in_and_chunks_come_out():
    async def application(scope, receive, send):
        assert scope["type"] == "http"  # refuses lifespan the usual way
        message = await receive()
        await respond(send, b"got ", message["body"])

    reply = ask(application, body=b"it")
    assert (reply.status, reply.body, reply.headers) == (200, b"got it", (("A", "b"),))


def test_an_exception_after_the_answer_does_not_change_it():
    async def application(scope, receive, send):
        assert scope["type"] == "http"
        await respond(send, b"whole")
        raise ValueError("too late")

    reply = ask(application)
    assert (reply.status, reply.body) == (200, b"whole")
    assert "too late" in reply.traceback


def test_an_exception_within_the_answer_is_a_server_error():
    async def application(scope, receive, send):
        assert scope["type"] == "http"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError("too early")

    assert ask(application).status == 500


def test_the_lifespan_runs_and_shares_its_state():
    events = []

    async def application(scope, receive, send):
        if scope["type"] == "http":
            return await respond(send, scope["state"]["pool"])
        for answer in ("lifespan.startup", "lifespan.shutdown"):
            events.append((await receive())["type"])
            scope["state"]["pool"] = b"ready"
            await send({"type": f"{answer}.complete"})
        return None

    assert ask(application).body == b"ready"
    assert events == ["lifespan.startup", "lifespan.shutdown"]


def test_an_application_that_cannot_start_says_why():
    async def application(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no database"})

    with pytest.raises(RuntimeError, match="no database"):
        AsgiCaller(application, MOST_BYTES)


def test_a_client_leaves_only_when_it_has_its_answer():
    async def application(scope, receive, send):
        assert scope["type"] == "http"
        await receive()
        leaving = asyncio.ensure_future(receive())
        await asyncio.sleep(0)
        assert not leaving.done()
        await respond(send, b"x")
        assert (await leaving)["type"] == "http.disconnect"

    assert ask(application).body == b"x"


@pytest.mark.parametrize("broken", [LookupError, None])
def test_exceptions_and_silence_are_a_500_with_a_traceback(broken):
    async def application(scope, receive, send):
        if broken is not None:
            raise broken("gone")

    reply = ask(application)
    assert reply.status == 500
    assert ("gone" if broken else "http.response.start") in reply.traceback


def test_the_scope_decodes_the_path_and_keeps_the_raw_one():
    scope = _scope_of(WireRequest("GET", "/caf%C3%A9?q=1", HOST, b""), {})
    assert (scope["path"], scope["raw_path"], scope["query_string"]) == ("/café", b"/caf%C3%A9", b"q=1")


def test_headers_are_the_bytes_of_the_wire():
    scope = _scope_of(WireRequest("GET", "/", (*HOST, ("X-City", "Łódź")), b""), {})
    assert scope["headers"][1] == (b"x-city", "Łódź".encode())


def test_of_a_page_without_end_no_more_than_the_bound_is_kept():
    heard = []

    async def application(scope, receive, send):
        assert scope["type"] == "http"
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while True:
                await send({"type": "http.response.body", "body": b"x" * 600, "more_body": True})
        except OSError:
            heard.append((await receive())["type"])
            raise

    reply = ask(application)
    assert (reply.status, len(reply.body), reply.endless, reply.traceback) == (200, MOST_BYTES, True, "")
    assert reply.body_bytes > 16 * MOST_BYTES
    assert heard == ["http.disconnect"]


def test_a_stream_of_events_that_wait_to_happen_is_given_up(monkeypatch):
    monkeypatch.setattr(_Body, "DRIPS_S", 0.01)

    async def application(scope, receive, send):
        assert scope["type"] == "http"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b": hello\n\n", "more_body": True})
        await asyncio.Event().wait()

    reply = ask(application)
    assert (reply.status, reply.body, reply.endless, reply.traceback) == (200, b": hello\n\n", True, "")


def test_a_page_beyond_the_bound_is_measured_to_its_end():
    async def application(scope, receive, send):
        assert scope["type"] == "http"
        await respond(send, *[b"x" * 600] * 5)

    reply = ask(application)
    assert (len(reply.body), reply.body_bytes, reply.endless) == (MOST_BYTES, 3000, False)
