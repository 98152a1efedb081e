"""Access logs: their lines, their pages, and the steps that come of them."""

import io
from itertools import product

import pytest

from stackrace.features.recordings.access_log import (
    _LINE_MAX_BYTES,
    _is_static,
    _LogLine,
    _parse_line,
    _time_ns,
    from_access_log,
)
from stackrace.features.recordings.recorded_steps import RecordingError, Step
from stackrace.measure.workload import Request

TIME = "[10/Oct/2000:13:55:36 -0700]"
TIME_NS = 971_211_336_000_000_000


def plain(client, request, status):
    return _LogLine(client.encode(), TIME_NS, request.encode(), status, None, None)


@pytest.mark.parametrize(
    ("rest", "request_line", "status"),
    [
        ('"GET /apache_pb.gif HTTP/1.0" 200 2326', "GET /apache_pb.gif HTTP/1.0", 200),
        ('"HEAD / HTTP/2.0" 304 -', "HEAD / HTTP/2.0", 304),
        ('"GET / HTTP/1.1" - 5', "GET / HTTP/1.1", 0),
    ],
)
def test_the_common_format_is_read(rest, request_line, status):
    assert _parse_line(f"2001:db8::7 - frank {TIME} {rest}".encode()) == plain("2001:db8::7", request_line, status)


@pytest.mark.parametrize(
    "who",
    [
        *(f"192.0.2.7 - {user}" for user in ("J. [10/Oct/x] Doe", '""')),
        *(f"192.0.2.7 {identity} -" for identity in ("alice", "\x03")),
        *(f"{host} 192.0.2.7 - -" for host in ("shop.example:80", "shop.example")),
    ],
)
def test_neither_a_user_an_identity_nor_a_virtual_host_is_the_client(who):
    text = f'{who} {TIME} "GET / HTTP/1.1" 200 5'
    assert _parse_line(text.encode()) == plain("192.0.2.7", "GET / HTTP/1.1", 200)


def test_the_combined_format_adds_where_from_and_with_what():
    text = (
        f'client.example - - {TIME} "GET / HTTP/1.1" 200 5 "http://shop.example/a?b" '
        r'"Mozilla/5.0 (X11; \"x\")" "203.0.113.9" 0.004'
    )
    line = _parse_line(text.encode())
    assert (line.referer, line.user_agent) == (b"http://shop.example/a?b", b'Mozilla/5.0 (X11; "x")')
    text = f'client.example - - {TIME} "GET / HTTP/1.1" 200 5 "-" "-"'
    assert _parse_line(text.encode()) == plain("client.example", "GET / HTTP/1.1", 200)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (rb"GET /\"a\\b\t\n\r\b\v HTTP/1.1", b'GET /"a\\b\t\n\r\x08\x0b HTTP/1.1'),
        (rb"GET /caf\xc3\xa9 HTTP/1.1", b"GET /caf\xc3\xa9 HTTP/1.1"),
        (rb"\x16\x03\x01", b"\x16\x03\x01"),
        (rb"GET /\x22\x5C HTTP/1.1", b'GET /"\\ HTTP/1.1'),
        (rb"GET /\xg0\q HTTP/1.1", rb"GET /\xg0\q HTTP/1.1"),
        (b"", b""),
    ],
)
def test_escapes_of_both_servers_are_undone(written, meant):
    line = _parse_line(b'192.0.2.7 - - %s "%s" 200 5' % (TIME.encode(), written))
    assert line.request == meant


@pytest.mark.parametrize(
    "rest",
    [
        # a field without its end
        *(f" {field} 200 5" for field in ("", '"', '"a', '"\\', '"\\"', '"\\x', '"\\x4', 'a"')),
        "",
        " GET / HTTP/1.1 200 5",
        *(f' "GET / HTTP/1.1"{rest}' for rest in ("", " 200", " ok 5", " 70000 5", " 200 +5", f" 200 {'9' * 20}")),
    ],
)
def test_what_is_no_line_of_either_format_is_none(rest):
    assert _parse_line(f"192.0.2.7 - - {TIME}{rest}".encode()) is None


@pytest.mark.parametrize(
    "before", ["", "#Version: 1.0", "192.0.2.7 - - [yesterday]", f" {TIME}", f"192.0.2.7 {TIME}"]
)
def test_what_has_no_client_or_time_is_none(before):
    assert _parse_line(f'{before} "GET / HTTP/1.1" 200 5'.encode()) is None


@pytest.mark.parametrize(
    ("paths", "static"),
    [
        (["/a.css", "/a/b.min.JS?v=1.2", "/x.y/.ico", "/%20.woff2"], True),
        (["/", "/css", "/a.css/", "/a.html", "/a?b=c.css", "/a.cssx", "/a."], False),
    ],
)
def test_an_extension_tells_what_is_static(paths, static):
    assert {_is_static(path) for path in paths} == {static}


def common(request, *, client="192.0.2.7", second=0, status="200", length="5"):
    return f'{client} - - [10/Oct/2026:13:55:{second:02} +0000] "{request}" {status} {length}\n'


def get(second, path):
    return common(f"GET {path} HTTP/1.1", second=second)


def from_text(text, **options):
    return from_access_log(io.BytesIO(text.encode()), **options)


def only(text):
    (step,) = from_text(text).steps
    return step


def pauses_s(text):
    return [step.request.think_s for step in from_text(text).steps]


def embedded(text):
    return [step.request.embedded for step in from_text(text).steps]


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
    assert only(text) == Step(Request(path="/caf%C3%A9?q=a%20b", headers=headers), 200)


def test_an_answer_to_head_has_no_length():
    assert only(common("HEAD / HTTP/1.1", length="-")).request.method == "HEAD"


BODIES = ("POST /form HTTP/1.1", "DELETE /1 HTTP/1.1", "OPTIONS * HTTP/1.1", "CONNECT a:443 HTTP/1.1")
MALFORMED = (
    "-", "", "GET", "GET /", "GET / HTP/1.1", "GET  HTTP/1.1", "G(T / HTTP/1.1", r"\x16\x03\x01", "GET x HTTP/1.1",
)  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "lines", "statuses"),
    [
        ("its body is not in the log", BODIES, ["200"]),
        ("its request line is malformed", MALFORMED, ["400"]),
        ("no answer to it is in the log", ["GET / HTTP/1.1"], ["499", "-", "000", "101", "600"]),
    ],
)
def test_what_cannot_be_replayed_is_left_out_with_its_reason(reason, lines, statuses):
    for line, status in product(lines, statuses):
        recording = from_text(get(0, "/") + common(line, status=status))
        assert (len(recording.steps), recording.skipped) == (1, {reason: 1})
        assert f"most often as: {reason}; the first is in line 1" in complaint(common(line, status=status))


def test_a_whole_url_is_asked_for_by_its_path():
    assert only(get(0, "http://shop.example/a?b")).request.path == "/a?b"
    assert only(get(0, "/a?u=http://shop.example/")).request.path == "/a?u=http://shop.example/"


def test_a_pause_is_the_time_since_the_request_before():
    post = common("POST / HTTP/1.1", second=20)
    log = get(10, "/") + get(12, "/slow") + get(11, "/late") + post + get(25, "/") + get(25, "/")
    assert pauses_s(log) == [0, 2, 0, 13, 0]


def test_a_log_that_spans_years_pauses_for_a_day_at_most():
    log = get(0, "/") + get(0, "/").replace("2026", "2261") + get(0, "/").replace("2026", "1700")
    assert pauses_s(log) == [0, 24 * 3600, 0]


def test_static_files_belong_to_their_clients_page():
    other = common("GET /x.css HTTP/1.1", client="192.0.2.8")
    log = get(0, "/early.css") + get(0, "/") + get(0, "/x.css") + get(0, "/x.js?v=1") + other + get(0, "/next")
    assert embedded(log) == [False, False, True, True, False, False]


@pytest.mark.parametrize(
    ("path", "referer", "belongs"),
    [
        ("/mine.css", "https://shop.example/a?b=1", True),
        ("/another's.png", "https://shop.example/a", False),
        ("/font.woff2", "https://shop.example/mine.css", True),
        ("/icon.png", "-", True),
        ("/icon.png", "no URL", True),
        ("/next", "https://shop.example/a?b=1", False),
    ],
)
def test_the_referer_decides_where_it_is_logged(path, referer, belongs):
    asked = get(0, path).replace("\n", f' "{referer}" "x"\n')
    other = common("GET /other HTTP/1.1", client="192.0.2.8")
    assert embedded(get(0, "/a?b=1") + other + asked)[2] is belongs


def test_headers_that_cannot_be_sent_are_dropped():
    assert only(get(0, "/").replace("\n", r' "http://a/\r\nX: y" "\xff"' + "\n")).request.headers == ()


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


def test_reading_stops_beyond_what_can_be_held():
    with pytest.raises(RecordingError, match="line 6"):
        from_access_log(io.BufferedReader(Endless()), max_steps=5)


def test_hostile_lines_are_counted_and_not_held():
    long = "x" * (3 * _LINE_MAX_BYTES) + get(0, "/")
    recording = from_text(f'{long}\0\xff\n"\\\n{get(0, "/")}')
    assert (len(recording.steps), list(recording.skipped.values())) == (1, [3])


def test_lines_end_in_either_way_and_the_last_need_not_end():
    text = "\ufeff" + get(0, "/").replace("\n", "\r\n") + "\n  \n" + get(1, "/").rstrip("\n")
    assert pauses_s(text) == [0, 1]


def test_the_time_of_a_log_has_a_named_month():
    assert _time_ns(b"10/Oct/2000:13:55:36 -0700") == TIME_NS
    assert _time_ns(b"01/jan/1970:00:00:00 +0000") == 0


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"10/Okt/2000:13:55:36 -0700",
        b"10/Oct/2000 13:55:36 -0700",
        b"10/Oct/2000:13:55:36",
        b"31/Feb/2000:13:55:36 +0000",
        b"10/Oct/2000:13:55:36 -0700 ",
    ],
)
def test_other_times_of_a_log_are_none(text):
    assert _time_ns(text) is None
