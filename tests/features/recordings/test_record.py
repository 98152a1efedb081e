"""What is seen while a visit is recorded, and the file that it becomes: whole or not at all."""

from __future__ import annotations

import base64
import io
import json

import pytest

from stackrace.base.errors import InputError, LaunchError
from stackrace.base.secrets import learn
from stackrace.cli.edge import printable_output
from stackrace.features.recordings.record import Side, keep
from stackrace.features.recordings.verb import _watch


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Proxy:
    """Has one request to tell of, and is gone then."""

    origin = "http://127.0.0.1:8000"

    def __init__(self) -> None:
        self._told = False

    def require_alive(self) -> None:
        if self._told:
            raise LaunchError("it is gone")

    def news(self):
        self._told = True
        yield "GET /\x1b[2J 200"


def test_on_a_terminal_the_last_request_is_drawn_over_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with printable_output():
        failure = _watch(Proxy(), None)
    assert failure is not None
    assert "\r\x1b[K1 request; the last: GET / 200\n" in terminal.getvalue()


SIDE = Side(
    upstream="http://127.0.0.1:8000", origin="https://shop.example", headers=(("X-Forwarded-Proto", "https"),)
)


def har(*statuses):
    headers = [{"name": "x-forwarded-proto", "value": "https"}, {"name": "Accept", "value": "text/html"}]
    entries = [
        {
            "startedDateTime": "2026-11-21T20:00:00Z",
            "time": 5,
            "request": {"method": "GET", "url": f"http://127.0.0.1:8000/p{n}?a=%20#x", "headers": headers},
            "response": {"status": status, "headers": [], "content": {"mimeType": "text/html", "text": ""}},
        }
        for n, status in enumerate(statuses)
    ]
    return json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()


def test_it_names_the_app_and_leaves_out_what_the_front_end_added_and_nobody_answered(tmp_path):
    kept = keep(har(200, 0, 200), SIDE, tmp_path / "a.har")
    assert kept.origin == "https://shop.example"
    assert [request.path for request in kept.workload.requests] == ["/p0?a=%20", "/p2?a=%20"]
    assert {name.lower() for request in kept.workload.requests for name, _ in request.headers} == {"accept"}
    assert (tmp_path / "a.har").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("statuses", [(), (0, 0)])
def test_nothing_recorded_is_no_file(tmp_path, statuses):
    with pytest.raises(InputError, match="nothing was recorded"):
        keep(har(*statuses), SIDE, tmp_path / "a.har")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_no_half_file(tmp_path, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stackrace.features.recordings.record.read_recording", full)
    with pytest.raises(InputError, match=r"cannot be written to .*: No space left on device; name another place"):
        keep(har(200), SIDE, tmp_path / "a.har")
    assert not list(tmp_path.iterdir())


def test_an_upload_that_is_no_text_is_replayed_byte_by_byte(tmp_path):
    upload = b"--x\r\n" + bytes(range(256)) + "äß".encode() + b"\r\n--x--\r\n"
    document = json.loads(har(200))
    document["log"]["entries"][0]["request"] |= {
        "method": "POST",
        "headers": [{"name": "Content-Length", "value": str(len(upload))}],
        "bodySize": len(upload),
        # as mitmproxy writes it
        "postData": {"mimeType": "multipart/form-data; boundary=x", "text": upload.decode("latin-1"), "params": []},
    }
    kept = keep(json.dumps(document).encode(), SIDE, tmp_path / "a.har")
    assert [request.body for request in kept.workload.requests] == [upload]
    assert not kept.skipped


def test_the_apps_secrets_are_masked_in_what_it_answered(tmp_path):
    learn({"API_TOKEN": "canary-4711"})
    document = json.loads(har(200, 200))
    given = [{"name": "a", "value": "canary-4711"}]
    said = {"headers": given, "cookies": given}
    bodies = {"text": "canary-4711"}, {"text": base64.b64encode(b"\xff canary-4711").decode(), "encoding": "base64"}
    for entry, body in zip(document["log"]["entries"], bodies, strict=True):
        entry["response"] |= {**said, "content": {"mimeType": "text/html", **body}}
    keep(json.dumps(document).encode(), SIDE, tmp_path / "a.har")
    text = (tmp_path / "a.har").read_text()
    assert "canary" not in text
    assert base64.b64encode(b"\xff ***").decode() in text
