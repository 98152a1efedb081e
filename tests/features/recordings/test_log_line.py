import pytest

from stackrace.features.recordings.recorded.log_line import LogLine, parse_line

TIME = "[10/Oct/2000:13:55:36 -0700]"
TIME_NS = 971_211_336_000_000_000


def plain(client, request, status):
    return LogLine(client.encode(), TIME_NS, request.encode(), status, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f'127.0.0.1 - frank {TIME} "GET /apache_pb.gif HTTP/1.0" 200 2326',
            plain("127.0.0.1", "GET /apache_pb.gif HTTP/1.0", 200),
        ),
        (f'2001:db8::7 - - {TIME} "HEAD / HTTP/2.0" 304 -', plain("2001:db8::7", "HEAD / HTTP/2.0", 304)),
        (f'192.0.2.7 - - {TIME} "GET / HTTP/1.1" - 5', plain("192.0.2.7", "GET / HTTP/1.1", 0)),
    ],
)
def test_the_common_format_is_read(text, expected):
    assert parse_line(text.encode()) == expected


def test_the_combined_format_adds_where_from_and_with_what():
    text = (
        f'client.example - - {TIME} "GET / HTTP/1.1" 200 5 "http://shop.example/a?b" '
        r'"Mozilla/5.0 (X11; \"x\")" "203.0.113.9" 0.004'
    )
    line = parse_line(text.encode())
    assert (line.referer, line.user_agent) == (b"http://shop.example/a?b", b'Mozilla/5.0 (X11; "x")')
    text = f'client.example - - {TIME} "GET / HTTP/1.1" 200 5 "-" "-"'
    assert parse_line(text.encode()) == plain("client.example", "GET / HTTP/1.1", 200)


@pytest.mark.parametrize("user", ["J. [10/Oct/x] Doe", '""', "[31/Feb/2000:13:55:36 -0700]"])
def test_a_user_name_may_hold_anything(user):
    text = f'192.0.2.7 - {user} {TIME} "GET / HTTP/1.1" 200 5'
    assert parse_line(text.encode()) == plain("192.0.2.7", "GET / HTTP/1.1", 200)


@pytest.mark.parametrize("identity", ["alice", "\x03"])
def test_an_identity_is_not_the_client(identity):
    text = f'192.0.2.7 {identity} - {TIME} "GET / HTTP/1.1" 200 5'
    assert parse_line(text.encode()) == plain("192.0.2.7", "GET / HTTP/1.1", 200)


@pytest.mark.parametrize("host", ["shop.example:80", "shop.example"])
def test_a_virtual_host_in_front_is_not_the_client(host):
    text = f'{host} 192.0.2.7 - - {TIME} "GET / HTTP/1.1" 200 5'
    assert parse_line(text.encode()) == plain("192.0.2.7", "GET / HTTP/1.1", 200)


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
    line = parse_line(b'192.0.2.7 - - %s "%s" 200 5' % (TIME.encode(), written))
    assert line.request == meant


@pytest.mark.parametrize("field", ["", '"', '"a', '"\\', '"\\"', '"\\x', '"\\x4', 'a"'])
def test_a_field_without_its_end_is_none(field):
    assert parse_line(f"192.0.2.7 - - {TIME} {field} 200 5".encode()) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#Version: 1.0",
        f"192.0.2.7 - - {TIME}",
        f"192.0.2.7 - - {TIME} GET / HTTP/1.1 200 5",
        f'192.0.2.7 - - {TIME} "GET / HTTP/1.1"',
        f'192.0.2.7 - - {TIME} "GET / HTTP/1.1" 200',
        f'192.0.2.7 - - {TIME} "GET / HTTP/1.1" ok 5',
        f'192.0.2.7 - - {TIME} "GET / HTTP/1.1" 70000 5',
        f'192.0.2.7 - - {TIME} "GET / HTTP/1.1" 200 +5',
        f'192.0.2.7 - - {TIME} "GET / HTTP/1.1" 200 99999999999999999999',
        '192.0.2.7 - - [yesterday] "GET / HTTP/1.1" 200 5',
        f' {TIME} "GET / HTTP/1.1" 200 5',
        f'192.0.2.7 {TIME} "GET / HTTP/1.1" 200 5',
    ],
)
def test_other_lines_are_none(text):
    assert parse_line(text.encode()) is None
