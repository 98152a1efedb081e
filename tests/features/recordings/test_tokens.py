"""What a recorded page gave for later requests is traced by name and value."""

import json

import pytest

from stackrace.features.recordings.recorded_sessions import read_recording
from stackrace.measure.engine.visitor import _filled, _handed_out
from stackrace.measure.workload import FillPart, Handout

FORM = "application/x-www-form-urlencoded"
TOKEN = "a/b+c==0123456789"


def entry(method="GET", path="/", page=None, body=None, body_type=FORM, headers=(), sent=()):
    named = [{"name": name, "value": value} for name, value in headers]
    named += [{"name": "Cookie", "value": "; ".join(sent)}] if sent else []
    request = {"method": method, "url": f"http://shop.example{path}", "headers": named}
    if body is not None:
        request["postData"] = {"mimeType": body_type, "text": body}
    content = {} if page is None else {"mimeType": "text/html; charset=utf-8", "text": page}
    return {"request": request, "response": {"status": 200, "content": content}}


def requests(tmp_path, *entries):
    file = tmp_path / "visit.har"
    file.write_text(json.dumps({"log": {"entries": entries}}))
    return read_recording(file, cookies=True).workload.requests


@pytest.mark.parametrize("name", ["csrfmiddlewaretoken", "authenticity_token", "csrf_token", "__RequestToken"])
def test_a_form_sends_the_hidden_fields_of_the_page_before(tmp_path, name):
    page = f'<form><input type="hidden" name="{name}" value="{TOKEN}"><input name="text" value="hello"></form>'
    body = f"text=hello&{name}=a%2Fb%2Bc%3D%3D0123456789&x=1"
    asked, sent = requests(tmp_path, entry(page=page), entry("POST", body=body))
    assert asked.handouts == (Handout(name=name, nth=0, slot=0),)
    (fill,) = sent.fills
    assert (fill.part, fill.source, fill.form) == (FillPart.BODY, 0, True)
    given = _handed_out(asked, page.replace(TOKEN, "n e&w").encode())
    assert _filled(sent, given, {}).body == f"text=hello&{name}=n+e%26w&x=1".encode()
    assert _filled(sent, {}, {}) == sent


def test_the_latest_page_that_has_the_value_gives_it(tmp_path):
    page = "<input type=hidden name=t value=1>"
    first, second, sent = requests(tmp_path, entry(page=page), entry(page=page), entry("POST", body="t=1"))
    assert (first.handouts, second.handouts) == ((), (Handout(name="t", nth=0, slot=0),))
    assert len(sent.fills) == 1


def test_of_fields_of_one_name_the_one_that_was_sent_is_meant(tmp_path):
    page = "<input name=t value=1><input type=hidden name=t value=2><input type=hidden name=t value=3>"
    asked, sent = requests(tmp_path, entry(page=page), entry("GET", "/?a=b&t=3"))
    assert asked.handouts == (Handout(name="t", nth=2, slot=0),)
    assert _filled(sent, {0: b"new"}, {}).path == "/?a=b&t=new"


def test_what_was_typed_or_has_another_name_is_sent_as_recorded(tmp_path):
    page = "<input name=seen value=recorded-text><input type=hidden name=h value=short>"
    asked, sent = requests(tmp_path, entry(page=page), entry("POST", body="seen=recorded-text&other=short&h=other"))
    assert (asked.handouts, sent.fills) == ((), ())


def test_a_script_copies_a_token_into_headers_and_bodies(tmp_path):
    page = f'<meta name="csrf-token" content="{TOKEN}">'
    json_body = entry("POST", body=json.dumps({"t": TOKEN}), body_type="application/json")
    asked, called, posted = requests(
        tmp_path, entry(page=page), entry("POST", headers=[("X-CSRF-Token", TOKEN)]), json_body
    )
    assert asked.handouts == (Handout(name="csrf-token", nth=0, slot=0),)
    assert _filled(called, {0: b"new"}, {}).headers == (("X-CSRF-Token", "new"),)
    assert _filled(posted, {0: b"new"}, {}).body == b'{"t": "new"}'


def test_what_is_given_is_sent_as_the_engine_sends_it(tmp_path):
    page = f'<input type=hidden name=t value="{TOKEN}">'
    form = entry("POST", headers=[("X-Token", TOKEN)], body="t=a%2Fb%2Bc%3D%3D0123456789")
    _, sent = requests(tmp_path, entry(page=page), form)
    assert _filled(sent, {0: b"a~b"}, {}).body == b"t=a%7Eb"
    assert _filled(sent, {0: b"a\r\nX-Other: b"}, {}).headers == sent.headers
    (_, text), *_ = _filled(sent, {0: b"\xff"}, {}).headers
    assert text.encode("utf-8", "surrogateescape") == b"\xff"


def test_a_form_with_an_upload_sends_the_token_that_stands_before_the_file(tmp_path):
    page = f'<input type=hidden name=csrf value="{TOKEN}">'
    body = f'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{TOKEN}\r\n--b\r\n\r\n"x\r\n--b--\r\n'
    posted = entry("POST", body=body, body_type="multipart/form-data; boundary=b")
    _, sent = requests(tmp_path, entry(page=page), posted)
    assert _filled(sent, {0: b"new"}, {}).body == body.replace(TOKEN, "new").encode()


def test_a_header_repeats_a_cookie(tmp_path):
    """As Django's and Angular's scripts do."""
    headers = [("X-CSRFToken", TOKEN)]
    _, sent = requests(tmp_path, entry(), entry("POST", headers=headers, sent=["a=b", f"csrftoken={TOKEN}"]))
    (fill,) = sent.fills
    assert (fill.part, fill.header, fill.source) == (FillPart.HEADER, "X-CSRFToken", "csrftoken")
    assert _filled(sent, {}, {"csrftoken": "new"}).headers == (("X-CSRFToken", "new"),)


def test_a_header_that_the_user_gives_is_sent_as_given(tmp_path):
    posted = entry("POST", headers=[("X-CSRFToken", TOKEN)], sent=[f"csrftoken={TOKEN}"])
    _, sent = requests(tmp_path, entry(), posted)
    assert sent.with_headers((("x-csrftoken", "mine"),)).fills == ()
    assert sent.with_headers((*sent.headers, ("X-More", "1"))).fills == sent.fills


def test_only_a_page_whose_fields_are_needed_is_asked_for_without_compression(tmp_path):
    headers = [("Accept-Encoding", "gzip"), ("Accept", "text/html")]
    page = "<input type=hidden name=t value=1>"
    asked, sent = requests(tmp_path, entry(page=page, headers=headers), entry("POST", body="t=1", headers=headers))
    assert asked.headers == (("Accept", "text/html"),)
    assert ("Accept-Encoding", "gzip") in sent.headers


SECRET = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.mZ0s-1Jx_3k"


def test_what_json_and_scripts_gave_is_sent_as_recorded(tmp_path):
    login = entry("POST", path="/login", body="user=ann")
    login["response"]["content"] = {"mimeType": "application/json", "text": json.dumps({"token": SECRET})}
    page = f"<script>var csrf = '{SECRET}';</script>"
    bearer = entry(path=f"/items/{SECRET}", headers=[("Authorization", f"Bearer {SECRET}")])
    for request in requests(tmp_path, login, entry(page=page), bearer):
        assert (request.handouts, request.fills) == ((), ())
