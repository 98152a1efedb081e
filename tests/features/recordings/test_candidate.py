import pytest

from stackrace.features.recordings.candidate import judge
from stackrace.features.recordings.steps import LeftOut, Skip
from stackrace.measure.workload import Request


def entry(request=(), response=(), **rest):
    """An entry that could be replayed, with fields added."""
    asked = {"method": "GET", "url": "http://shop.example/", **dict(request)}
    return {"request": asked, "response": {"status": "200", **dict(response)}, **rest}


def skip(value):
    with pytest.raises(LeftOut) as caught:
        judge(value)
    return caught.value.skip


def test_the_least_that_can_be_replayed_is_a_method_a_url_and_a_status():
    candidate = judge(entry())
    assert (candidate.origin, candidate.request) == ("http://shop.example", Request(path="/"))
    assert (candidate.status, candidate.answer) == (200, None)


@pytest.mark.parametrize(
    "value",
    [
        "1",
        None,
        {},
        {"request": "1"},
        {"request": {}},
        {"request": {"method": "GET"}},
        {**entry(), "response": "1"},
        entry(request={"postData": []}),
        entry(response={"content": "x"}),
        entry(request={"url": "http://a/\ud800"}),
    ],
)
def test_an_entry_that_is_none_is_unreadable(value):
    assert skip(value) is Skip.UNREADABLE


@pytest.mark.parametrize(
    ("method", "url", "reason"),
    [
        ("GET", "http://shop.example/", Skip.NO_ANSWER),
        ("GET", "data:text/plain,x", Skip.SCHEME),
        ("GET", "wss://shop.example/", Skip.SCHEME),
        ("CONNECT", "http://shop.example:443", Skip.METHOD),
        ("TRACE", "http://shop.example/", Skip.METHOD),
        ("GET /", "http://shop.example/", Skip.METHOD),
    ],
)
def test_what_no_server_answered_is_left_out_with_its_reason(method, url, reason):
    assert skip({"request": {"method": method, "url": url}}) is reason


@pytest.mark.parametrize("status", ["0", "-1", None, "", "199", "600", "1e300", "70000", {}])
def test_a_status_that_is_none_is_no_answer(status):
    assert skip(entry(response={"status": status})) is Skip.NO_ANSWER


def test_an_error_is_no_answer():
    assert skip(entry(response={"_error": "net::ERR_ABORTED"})) is Skip.NO_ANSWER
    assert judge(entry(response={"_error": None})) == judge(entry(response={"_error": ""}))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (entry(_webSocketMessages=[]), Skip.WEB_SOCKET),
        (entry(_resourceType="websocket"), Skip.WEB_SOCKET),
        (entry(response={"status": "101"}), Skip.WEB_SOCKET),
        (entry(_fromCache="disk"), Skip.OWN_ANSWER),
        (entry(response={"_fetchedViaServiceWorker": True}), Skip.OWN_ANSWER),
        (entry(_resourceType="eventsource"), Skip.EVENT_STREAM),
        (entry(response={"content": {"mimeType": "text/event-stream; charset=utf-8"}}), Skip.EVENT_STREAM),
        (entry(request={"bodySize": "3"}), Skip.BODY_MISSING),
    ],
)
def test_what_cannot_be_replayed_as_one_request_is_left_out(value, reason):
    assert skip(value) is reason


@pytest.mark.parametrize(
    ("time", "took_ns"), [("1.5", 1_500_000), ("-1", 0), (None, 0), ("2", 2_000_000), ("1e300", 2**63 - 1)]
)
def test_times_may_be_anything(time, took_ns):
    assert judge(entry(time=time)).took_ns == took_ns


def test_neither_a_304_nor_an_answer_to_head_has_a_body():
    headers = [{"name": "If-None-Match", "value": "x"}]
    cached = judge(entry({"headers": headers}, {"status": "304", "content": {"text": "cached", "size": "6"}}))
    assert (cached.request, cached.answer) == (Request(path="/"), None)
    headers = [{"name": "Content-Length", "value": "0"}]
    assert judge(entry({"method": "HEAD"}, {"headers": headers, "content": {"text": ""}})).answer is None


def test_a_body_is_sent_with_its_media_type():
    post = {"postData": {"mimeType": "text/plain", "text": "x"}}
    assert judge(entry(post)).request.headers == (("Content-Type", "text/plain"),)
    typed = {**post, "headers": [{"name": "content-type", "value": "text/csv"}]}
    assert judge(entry(typed)).request.headers == (("content-type", "text/csv"),)
