"""Files as real exporters and servers write them, read to the last detail."""

from pathlib import Path

from stackrace.features.recordings.recorded_sessions import read_steps as read

SAMPLES = Path(__file__).with_name("samples")
NO_ANSWER = "failed, blocked or never answered"


def sample(name):
    return read(SAMPLES / name)


def summary(recording):
    """Method and path, status, pause in milliseconds, and whether it is embedded."""
    return [
        (f"{asked.method} {asked.path}", status, round(asked.think_s * 1000), asked.embedded)
        for asked, status, _ in recording.steps
    ]


def names(step):
    return [name for name, _ in step.request.headers]


def answers(recording):
    return [step.answer for step in recording.steps]


def test_firefox_puts_every_page_into_one():
    recording = sample("firefox.har")
    assert recording.origin == "http://localhost:8000"
    assert summary(recording) == [
        ("GET /items/?page=2", 304, 0, False),
        ("GET /static/style.css", 200, 0, True),
        ("POST /cart/add", 302, 4000, False),
        ("GET /cart/", 200, 2, False),
    ]
    assert recording.skipped == {NO_ANSWER: 1}
    page = ["User-Agent", "Accept", "Accept-Encoding", "Cookie", "Upgrade-Insecure-Requests", "Priority"]
    assert names(recording.steps[0]) == page
    assert names(recording.steps[2]) == ["Accept", "Content-Type", "Origin", "Referer", "Cookie"]
    assert recording.steps[2].request.body == b"csrfmiddlewaretoken=9sGw&item=Tea+%26+milk+XL"
    assert answers(recording) == [None, b"body{margin:0}\n", b"", None]


def test_chromium_tells_what_a_request_was_for():
    recording = sample("chromium.har")
    assert recording.origin == "https://shop.example"
    assert summary(recording) == [
        ("GET /", 200, 0, False),
        ("GET /static/app.js", 200, 0, True),
        ("POST /api/search?limit=5", 200, 2483, False),
    ]
    assert list(recording.skipped.items()) == [
        ("neither http nor https (data:, ws:, a browser extension)", 2),
        ("sent to another server", 1),
        ("an event stream, which has no end", 1),
        ("answered by the browser itself, out of its cache or by a service worker", 1),
        (NO_ANSWER, 1),
    ]
    page = ["accept", "accept-encoding", "sec-fetch-dest", "sec-fetch-mode", "user-agent"]
    assert names(recording.steps[0]) == page
    assert names(recording.steps[2]) == ["content-type", "origin", "sec-fetch-dest"]
    assert recording.steps[2].request.body == b'{"query":"tea"}'
    assert recording.steps[0].answer == "<h1>Shop \u2013 été".encode()
    assert recording.steps[2].answer == b"[]"


def test_mitmproxy_knows_no_pages_and_damages_what_is_no_text():
    recording = sample("mitmproxy.har")
    assert summary(recording) == [("GET /api/items", 200, 0, False), ("PATCH /api/items/1", 200, 3000, False)]
    assert recording.skipped == {"a WebSocket": 1, NO_ANSWER: 1, "its body is not whole in the file": 1}
    assert names(recording.steps[0]) == ["User-Agent", "Authorization"]
    assert names(recording.steps[1]) == ["Content-Type", "If-Match"]
    assert recording.steps[1].request.body == '{"name": "é"}'.encode()
    assert answers(recording) == [b'[{"id": 1}]', b"\xff\0"]


def test_charles_lists_forms_as_parameters():
    recording = sample("charles.har")
    assert summary(recording) == [("POST /login?next=/a%20b%7Cc", 200, 0, False), ("GET /logo.png", 200, 0, True)]
    assert recording.skipped == {"its method cannot be replayed": 1}
    assert names(recording.steps[0]) == ["User-Agent", "Content-Type", "Cookie"]
    assert recording.steps[0].request.body == b"user=guest&password=a%2Bb+%26+%C3%A9"
    assert answers(recording) == ["Welcome, ✓\n".encode(), b"\x89PNG"]


def test_apache_logs_what_is_no_request_as_well():
    recording = sample("apache.log")
    assert recording.origin is None
    assert summary(recording) == [
        ("GET /items/?page=2", 200, 0, False),
        ("GET /static/style.css", 200, 0, True),
        ("GET /static/tea.png", 304, 0, True),
        ("GET /cart/", 200, 4000, False),
        ("GET /caf%C3%A9/%22x%22", 404, 5000, False),
    ]
    assert recording.skipped == {"its request line is malformed": 1, "its body is not in the log": 2}


def test_nginx_logs_who_did_not_wait():
    recording = sample("nginx.log")
    assert summary(recording) == [
        ("HEAD /", 200, 0, False),
        ("GET /search?q=a%20b", 200, 2000, False),
        ("GET /a", 200, 1000, False),
    ]
    assert recording.skipped == {"its request line is malformed": 1, "no answer to it is in the log": 1}
    assert recording.steps[1].request.headers == (("User-Agent", 'x"y'),)


def test_a_common_log_tells_neither_where_from_nor_with_what():
    recording = sample("common.log")
    assert summary(recording) == [("GET /apache_pb.gif", 200, 0, False), ("GET /", 200, 4000, False)]
    assert not any(step.request.headers for step in recording.steps)
