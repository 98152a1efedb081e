"""The fields and bodies of a HAR entry."""

import pytest

from stackrace.features.recordings.bodies import answered, number, pairs, sent, text
from stackrace.features.recordings.steps import LeftOut, Skip


def test_a_field_is_read_as_far_as_it_can_be():
    assert text("aé") == "aé"
    assert text("200") == "200"
    assert number(" 1.5 ") == 1.5
    assert number("-1") == -1.0
    assert number("1e999") is None
    assert number("1_0") is None


@pytest.mark.parametrize("value", [None, ["1"], {}, True, "\ud800"])
def test_what_cannot_be_read_is_not_there(value):
    assert (text(value), number(value)) == (None, None)


def test_pairs_are_read_one_by_one():
    listed = [{"name": "a", "value": "b"}, {"name": "n", "value": "1"}, {"name": "x"}, {"value": "y"}, {}]
    assert pairs(listed) == (("a", "b"), ("n", "1"))


@pytest.mark.parametrize("value", [None, {}, "3", ["1"], "a"])
def test_what_is_no_list_of_pairs_holds_none(value):
    assert pairs(value) == ()


FORM = "Application/X-WWW-form-urlencoded"
UPLOAD = "multipart/form-data; boundary=x"


def post(**data):
    return {"postData": data}


def left_out(request, headers=()):
    with pytest.raises(LeftOut) as caught:
        sent(request, headers)
    return caught.value.skip


def test_text_is_the_body_and_params_stand_in_for_it():
    assert sent(post(text='{"ä": 1}'), ()) == '{"ä": 1}'.encode()
    params = [{"name": "b", "value": "2"}]
    both = post(mimeType=f"{FORM}; charset=UTF-8", text="a=1", params=params)
    assert sent(both, [("content-length", "3")]) == b"a=1"
    params = [{"name": "a b", "value": "ü&="}, {"name": "c", "value": "*-._~"}]
    assert sent(post(mimeType=FORM, text="", params=params), ()) == b"a+b=%C3%BC%26%3D&c=*-._%7E"


@pytest.mark.parametrize("text", ["aGVsbG8=", "aGVsbG8", "aGVs\r\nbG8="])
def test_base64_is_decoded_however_it_is_broken(text):
    assert sent(post(text=text, encoding="base64"), ()) == b"hello"


def test_what_is_no_base64_is_damaged():
    for written in ("a!", "a", "W09="):
        assert left_out(post(text=written, encoding="base64")) is Skip.BODY_DAMAGED


@pytest.mark.parametrize(
    "request_fields", [{}, {"postData": None}, {"postData": {}, "bodySize": "0"}, {"bodySize": "-1"}]
)
def test_nothing_sent_is_an_empty_body(request_fields):
    assert sent(request_fields, ()) == b""


def test_a_body_that_was_left_out_is_missed():
    upload = post(mimeType=UPLOAD, params=[{"name": "f", "value": "", "fileName": "a.png"}])
    assert left_out(upload) is Skip.BODY_MISSING
    assert left_out({"bodySize": "7"}) is Skip.BODY_MISSING
    assert left_out(post(text=""), [("Content-Length", "7")]) is Skip.BODY_MISSING


@pytest.mark.parametrize(
    ("text", "headers"), [("\ufffdPNG", ()), ("\ud800", ()), (["x"], ()), ("abc", [("content-length", "4")])]
)
def test_a_body_that_was_damaged_is_noticed(text, headers):
    assert left_out(post(text=text), headers) is Skip.BODY_DAMAGED


def test_a_sign_of_loss_that_is_as_long_as_was_said_is_none():
    assert sent(post(text="\ufffd"), [("content-length", "3")]) == "\ufffd".encode()


def test_headers_in_front_of_a_form_are_no_part_of_it():
    text = f"Content-Type: {UPLOAD}\r\nContent-Length: 7\r\n\r\n--x--\r\n"
    assert sent(post(mimeType=UPLOAD, text=text), [("content-length", "7")]) == b"--x--\r\n"
    assert sent(post(text="content-type: x"), ()) == b"content-type: x"


@pytest.mark.parametrize(
    ("content", "headers", "body"),
    [
        ({"text": "ok"}, (), b"ok"),
        ({"text": "/wA=", "encoding": "base64"}, (), b"\xff\0"),
        ({"text": "é"}, [("Content-Type", 'text/html; charset="UTF-8"')], b"\xc3\xa9"),
        ({"text": "é", "mimeType": "application/json"}, (), b"\xc3\xa9"),
        ({"text": "ok", "size": "2"}, [("content-encoding", "identity")], b"ok"),
        ({"text": "ok", "size": "-1"}, [("content-length", "2")], b"ok"),
    ],
)
def test_an_answer_is_given_where_its_bytes_are_certain(content, headers, body):
    assert answered(content, headers) == body


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        ({}, ()),
        ({"text": "ok"}, [("Content-Encoding", "gzip")]),
        ({"text": "é"}, ()),
        ({"text": "é"}, [("Content-Type", "text/html; charset=iso-8859-1")]),
        ({"text": "\ufffd"}, [("Content-Type", "text/html; charset=utf-8")]),
        ({"text": "ok", "size": "3"}, ()),
        ({"text": "ok", "size": "2"}, [("Content-Length", "5")]),
        ({"text": "?", "encoding": "base64"}, ()),
        ({"text": "\ud83d"}, ()),
    ],
)
def test_an_uncertain_answer_is_none(content, headers):
    assert answered(content, headers) is None
