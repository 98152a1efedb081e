"""The fields and bodies of a HAR entry."""

import pytest

from stackrace.features.recordings.bodies import answered, number, pairs, sent, text
from stackrace.features.recordings.recorded_steps import LeftOut, Skip


def test_a_field_is_read_as_far_as_it_can_be():
    assert text("aé") == "aé"
    assert text("200") == "200"
    assert number(" 1.5 ") == 1.5
    assert number("-1") == -1.0
    assert (text(7), number(7), number(1.5)) == ("7", 7.0, 1.5)
    assert number("1e999") is None


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


A_AND_C = [{"name": "a b", "value": "ü&="}, {"name": "c", "value": "*-._~"}]
BOTH = post(mimeType=f"{FORM}; charset=UTF-8", text="a=1", params=[{"name": "b", "value": "2"}])
IN_FRONT = f"Content-Type: {UPLOAD}\r\nContent-Length: 7\r\n\r\n--x--\r\n"
LEFT_OUT = [{"name": "f", "value": "", "fileName": "a.png"}]


def length(number):
    return [("Content-Length", str(number))]


@pytest.mark.parametrize(
    ("request_fields", "headers", "body"),
    [
        # text is the body, and params stand in for it
        (post(text='{"ä": 1}'), (), '{"ä": 1}'.encode()),
        (BOTH, length(3), b"a=1"),
        (post(mimeType=FORM, text="", params=A_AND_C), (), b"a+b=%C3%BC%26%3D&c=*-._%7E"),
        (post(text="aGVsbG8=", encoding="base64"), (), b"hello"),
        # nothing
        ({}, (), b""),
        ({"postData": None}, (), b""),
        ({"postData": {}, "bodySize": "0"}, (), b""),
        ({"bodySize": "-1"}, (), b""),
        # a sign of loss that is as long as was said is none
        (post(text="\ufffd"), length(3), "\ufffd".encode()),
        # headers in front of a form are no part of it
        (post(mimeType=UPLOAD, text=IN_FRONT), length(7), b"--x--\r\n"),
        (post(text="content-type: x"), (), b"content-type: x"),
    ],
)
def test_a_body_is_sent_as_it_was(request_fields, headers, body):
    assert sent(request_fields, headers) == body


@pytest.mark.parametrize(
    ("request_fields", "headers", "skip"),
    [
        (post(mimeType=UPLOAD, params=LEFT_OUT), (), Skip.BODY_MISSING),
        ({"bodySize": "7"}, (), Skip.BODY_MISSING),
        (post(text=""), length(7), Skip.BODY_MISSING),
        *((post(text=text, encoding="base64"), (), Skip.BODY_DAMAGED) for text in ("a!", "a", "aGVsbG8")),
        *((post(text=text), (), Skip.BODY_DAMAGED) for text in ("\ufffdPNG", "\ud800", ["x"])),
        (post(text="abc"), length(4), Skip.BODY_DAMAGED),
    ],
)
def test_a_body_that_was_left_out_or_damaged_is_noticed(request_fields, headers, skip):
    with pytest.raises(LeftOut) as caught:
        sent(request_fields, headers)
    assert caught.value.skip is skip


@pytest.mark.parametrize(
    ("content", "headers", "body"),
    [
        ({"text": "ok"}, (), b"ok"),
        ({"text": "/wA=", "encoding": "base64"}, (), b"\xff\0"),
        ({"text": "é", "size": 2}, (), b"\xc3\xa9"),
        ({"text": "é"}, [("Content-Length", "2")], b"\xc3\xa9"),
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
        ({"text": "é", "size": 1}, [("Content-Type", "text/html; charset=iso-8859-1")]),
        ({"text": "\ufffd", "size": 3}, ()),
        ({"text": "ok", "size": "3"}, ()),
        ({"text": "ok", "size": "2"}, [("Content-Length", "5")]),
        ({"text": "?", "encoding": "base64"}, ()),
        ({"text": "\ud83d"}, ()),
    ],
)
def test_an_uncertain_answer_is_none(content, headers):
    assert answered(content, headers) is None
