import io

import pytest

from stackrace.features.recordings.recorded.access_log import LINE_MAX_BYTES, from_access_log
from stackrace.features.recordings.recorded.step import THINK_MAX_NS, RecordingError, Step


def common(request, *, client="192.0.2.7", second=0, status="200", length="5"):
    return f'{client} - - [10/Oct/2026:13:55:{second:02} +0000] "{request}" {status} {length}\n'


def get(second, path):
    return common(f"GET {path} HTTP/1.1", second=second)


def from_text(text, **options):
    return from_access_log(io.BytesIO(text.encode()), **options)


def only(text):
    (step,) = from_text(text).steps
    return step


def pauses_ns(text):
    return [step.think_ns for step in from_text(text).steps]


def embedded(text):
    return [step.embedded for step in from_text(text).steps]


def complaint(text):
    with pytest.raises(RecordingError) as caught:
        from_text(text)
    return str(caught.value)


class Endless(io.RawIOBase):
    """Every read begins with a line."""

    def readable(self):
        return True

    def readinto(self, buffer):
        line = get(0, "/").encode()
        buffer[: len(line)] = line
        return len(line)


def test_a_line_becomes_a_step():
    text = (
        r'2001:db8::7 - - [10/Oct/2026:13:55:36 +0200] "GET /caf\xc3\xa9?q=a b#c HTTP/2.0" 200 2326 '
        r'"http://shop.example/" "Mozilla/5.0 (\"x\")"' + "\r\n"
    )
    headers = (("Referer", "http://shop.example/"), ("User-Agent", 'Mozilla/5.0 ("x")'))
    assert only(text) == Step(method="GET", path="/caf%C3%A9?q=a%20b", headers=headers, status=200)


@pytest.mark.parametrize(
    ("status", "expected"), [("206", 206), ("302", 302), ("304", None), ("404", 404), ("503", 503)]
)
def test_a_status_is_expected_again_unless_it_was_the_caches(status, expected):
    assert only(common("GET / HTTP/1.1", status=status)).status == expected
    assert only(common("HEAD / HTTP/1.1", status=status, length="-")).method == "HEAD"


@pytest.mark.parametrize(
    ("reason", "request_line", "status"),
    [
        *(
            ("its body is not in the log", line, "200")
            for line in (
                "POST /form HTTP/1.1",
                "DELETE /1 HTTP/1.1",
                "OPTIONS * HTTP/1.1",
                "CONNECT a:443 HTTP/1.1",
            )
        ),
        *(
            ("its request line is malformed", line, "400")
            for line in (
                "-",
                "",
                "GET",
                "GET /",
                "GET / HTP/1.1",
                "GET  HTTP/1.1",
                "G(T / HTTP/1.1",
                r"\x16\x03\x01",
                "GET x HTTP/1.1",
            )
        ),
        *(
            ("no answer to it is in the log", "GET / HTTP/1.1", status)
            for status in ("499", "-", "000", "101", "600")
        ),
    ],
)
def test_what_cannot_be_replayed_is_left_out_with_its_reason(reason, request_line, status):
    recording = from_text(get(0, "/") + common(request_line, status=status))
    assert (len(recording.steps), recording.skipped) == (1, {reason: 1})
    assert f"most often as: {reason}; the first is in line 1" in complaint(common(request_line, status=status))


def test_a_whole_url_is_asked_for_by_its_path():
    assert only(get(0, "http://shop.example/a?b")).path == "/a?b"
    assert only(get(0, "/a?u=http://shop.example/")).path == "/a?u=http://shop.example/"


def test_a_pause_is_the_time_since_the_request_before():
    post = common("POST / HTTP/1.1", second=20)
    log = get(10, "/") + get(12, "/slow") + get(11, "/late") + post + get(25, "/") + get(25, "/")
    assert [pause // 10**9 for pause in pauses_ns(log)] == [0, 2, 0, 13, 0]


def test_a_log_that_spans_years_pauses_for_a_day_at_most():
    log = get(0, "/") + get(0, "/").replace("2026", "2261") + get(0, "/").replace("2026", "1700")
    assert pauses_ns(log) == [0, THINK_MAX_NS, 0]


def test_static_files_belong_to_their_clients_page():
    other = common("GET /x.css HTTP/1.1", client="192.0.2.8")
    log = get(0, "/early.css") + get(0, "/") + get(0, "/x.css") + get(0, "/x.js?v=1") + other + get(0, "/next")
    assert embedded(log) == [False, False, True, True, False, False]


def test_the_referer_decides_where_it_is_logged():
    def combined(path, referer):
        return get(0, path).replace("\n", f' "{referer}" "x"\n')

    log = (
        combined("/", "-")
        + combined("/mine.css", "https://shop.example/")
        + combined("/another's.png", "https://shop.example/other")
        + combined("/font.woff2", "https://shop.example/mine.css")
        + combined("/icon.png", "-")
    )
    assert embedded(log) == [False, True, False, True, True]


def test_headers_that_cannot_be_sent_are_dropped():
    assert only(get(0, "/").replace("\n", r' "http://a/\r\nX: y" "\xff"' + "\n")).headers == ()


def test_a_file_that_is_no_log_is_refused_with_the_line_and_the_way_out():
    assert "empty" in complaint("")
    assert "empty" in complaint("\r\n \n")
    refused = complaint("\n<html>\nGET / HTTP/1.1\n")
    assert "line 2" in refused
    assert '"GET /path HTTP/1.1" 200' in refused
    post = common("POST / HTTP/1.1")
    refused = complaint(f"what?\n{post}{post}")
    assert "its body is not in the log" in refused
    assert "line 2" in refused
    assert "not a line of the common or combined format" in complaint(f"what?\nwhere?\n{post}")


def test_reading_stops_at_the_limit_and_beyond_what_can_be_held():
    assert len(from_access_log(io.BufferedReader(Endless()), 3).steps) == 3
    with pytest.raises(RecordingError, match="line 6"):
        from_access_log(io.BufferedReader(Endless()), max_steps=5)


def test_hostile_lines_are_counted_and_not_held():
    long = "x" * (3 * LINE_MAX_BYTES) + get(0, "/")
    recording = from_text(f'{long}\0\xff\n"\\\n{get(0, "/")}')
    assert (len(recording.steps), list(recording.skipped.values())) == (1, [3])


def test_lines_end_in_either_way_and_the_last_need_not_end():
    text = "\ufeff" + get(0, "/").replace("\n", "\r\n") + "\n  \n" + get(1, "/").rstrip("\n")
    assert pauses_ns(text) == [0, 10**9]
