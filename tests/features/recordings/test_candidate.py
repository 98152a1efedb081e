import pytest

from stackrace.features.recordings.candidate import judge, moment_ns
from stackrace.features.recordings.recorded_steps import LeftOut, Skip
from stackrace.measure.workload import Request


def entry(request=(), response=(), **rest):
    """An entry that could be replayed, with fields added."""
    asked = {"method": "GET", "url": "http://shop.example/", **dict(request)}
    return {"request": asked, "response": {"status": "200", **dict(response)}, **rest}


def test_the_least_that_can_be_replayed_is_a_method_a_url_and_a_status():
    candidate = judge(entry())
    assert (candidate.origin, candidate.request) == ("http://shop.example", Request(path="/"))
    assert (candidate.status, candidate.answer) == (200, None)


LEFT_OUT = {
    Skip.UNREADABLE: [
        "1", None, {}, {"request": "1"}, {"request": {}}, {"request": {"method": "GET"}},
        {**entry(), "response": "1"}, entry(response={"content": "x"}),
        entry(request={"postData": []}), entry(request={"url": "http://a/\ud800"}),
    ],
    Skip.SCHEME: [{"request": {"method": "GET", "url": url}} for url in ("data:text/plain,x", "wss://shop.example/")],
    Skip.METHOD: [{"request": {"method": method, "url": "http://a/"}} for method in ("CONNECT", "TRACE", "GET /")],
    Skip.NO_ANSWER: [
        {"request": entry()["request"]}, entry(response={"_error": "net::ERR_ABORTED"}),
        *(entry(response={"status": each}) for each in ("0", "-1", None, "", "199", "600", "1e300", "70000", {})),
    ],
    Skip.WEB_SOCKET: [
        entry(_webSocketMessages=[]), entry(_resourceType="websocket"), entry(response={"status": "101"}),
    ],
    Skip.BROWSER_ANSWER: [entry(_fromCache="disk"), entry(response={"_fetchedViaServiceWorker": True})],
    Skip.EVENT_STREAM: [
        entry(_resourceType="eventsource"),
        entry({}, {"content": {"mimeType": "text/event-stream; charset=utf-8"}}),
    ],
    Skip.BODY_MISSING: [entry(request={"bodySize": "3"})],
}  # fmt: skip


@pytest.mark.parametrize("reason", LEFT_OUT)
def test_what_cannot_be_replayed_is_left_out_with_its_reason(reason):
    for value in LEFT_OUT[reason]:
        with pytest.raises(LeftOut) as caught:
            judge(value)
        assert caught.value.skip is reason, value


def test_no_error_is_none():
    assert judge(entry(response={"_error": None})) == judge(entry(response={"_error": ""}))


DAY_NS = 24 * 3600 * 10**9


@pytest.mark.parametrize(
    ("time", "took_ns"),
    [(1.5, 1_500_000), (-1, 0), (None, 0), ("2", 2_000_000), (1e305, DAY_NS), (10**400, 0), ({}, 0)],
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


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.000", 0),
        ("1969-12-31 23:59:59+00:00", -(10**9)),
        ("2023-03-29T16:58:59.303-07:00", 1_680_134_339_303_000_000),
        ("2023-03-29T23:58:59.303Z", 1_680_134_339_303_000_000),
        ("2023-03-30T01:58:59,3030000+0200", 1_680_134_339_303_000_000),
        ("2023-03-29T23:58:59.303000123456+00", 1_680_134_339_303_000_000),
        ("2000-02-29T12:00:00Z", 951_825_600_000_000_000),
    ],
)
def test_dates_read_as_every_exporter_writes_them(text, expected_ns):
    assert moment_ns(text) == expected_ns


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "Invalid Date",
        "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2023-00-01T00:00:00Z",
        "2023-13-01T00:00:00Z",
        "2023-01-00T00:00:00Z",
        "2023-04-31T00:00:00Z",
        "2023-01-01T00:60:00Z",
        "2023-01-01T00:00:61Z",
        "2023-01-01T00:00:00+24:00",
        "2023-01-01T00:00:00+01:",
        "2023-01-01T00:00:00Zulu",
        "+2023-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "２０２３-01-01T00:00:00Z",
    ],
)
def test_what_is_no_date_is_none(text):
    assert moment_ns(text) is None
