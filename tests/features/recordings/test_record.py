"""A browser's HAR file becomes a session: only what is replayed, masked, whole or not at all."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.base.secrets import register_secrets
from stackrace.features.recordings.record import keep
from stackrace.features.recordings.recorded_sessions import read_recording

SAMPLES = Path(__file__).with_name("samples")


def har(folder, *entries):
    """Write a HAR file of ``entries``, each a URL with what differs from a page that was answered."""
    made = [
        {
            "startedDateTime": "2026-11-21T20:00:00Z",
            "time": 5,
            "request": {"method": "GET", "url": url, "headers": []},
            "response": {
                "status": 200,
                "headers": [],
                "content": {"mimeType": "text/html", "text": ""},
                **response,
            },
        }
        for url, response in entries
    ]
    path = folder / "exported.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": made}}))
    return path


OURS = "http://127.0.0.1:8000"


def test_a_session_has_only_what_is_replayed_and_only_its_owner_reads_it(tmp_path):
    source = har(
        tmp_path, (f"{OURS}/a?b=%20#c", {}), ("https://ads.example/x", {}), (f"{OURS}/d", {}), ("data:,x", {})
    )
    kept = keep(source, tmp_path / "a.har")
    assert [request.path for request in kept.workload.requests] == ["/a?b=%20", "/d"]
    assert sum(kept.skipped.values()) == 2
    again = read_recording(tmp_path / "a.har")
    assert (again.workload, again.skipped) == (kept.workload, {})
    assert (tmp_path / "a.har").stat().st_mode & 0o777 == 0o600
    assert "ads.example" not in (tmp_path / "a.har").read_text()


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("*.har")))
def test_a_session_replays_as_what_a_tool_exported(sample, tmp_path):
    kept = keep(SAMPLES / sample, tmp_path / "a.har")
    assert read_recording(tmp_path / "a.har").workload == kept.workload


@pytest.mark.parametrize(("entries", "why"), [((), "entries is empty"), ((("data:,x", {}),), "can be replayed")])
def test_nothing_to_replay_is_no_file(tmp_path, entries, why):
    source = har(tmp_path, *entries)
    with pytest.raises(InputError, match=why):
        keep(source, tmp_path / "a.har")
    assert list(tmp_path.iterdir()) == [source]


def test_an_access_log_races_as_it_is(tmp_path):
    with pytest.raises(InputError, match="races as it is"):
        keep(SAMPLES / "nginx.log", tmp_path / "a.har")


def test_a_full_disk_leaves_no_half_file(tmp_path, monkeypatch):
    def full(**_):
        raise OSError(28, "No space left on device")

    source = har(tmp_path, (f"{OURS}/", {}))
    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(InputError, match=r"cannot be written to .*: No space left on device; name another place"):
        keep(source, tmp_path / "a.har")
    assert list(tmp_path.iterdir()) == [source]


def test_the_apps_secrets_are_masked_in_what_it_answered(tmp_path):
    register_secrets({"API_TOKEN": "canary-4711"})
    given = [{"name": "a", "value": "canary-4711"}]
    bodies = {"text": "canary-4711"}, {"text": base64.b64encode(b"\xff canary-4711").decode(), "encoding": "base64"}
    answers = [{"headers": given, "content": {"mimeType": "text/html", **body}} for body in bodies]
    keep(har(tmp_path, *((f"{OURS}/", answer) for answer in answers)), tmp_path / "a.har")
    text = (tmp_path / "a.har").read_text()
    assert "canary" not in text
    assert base64.b64encode(b"\xff ***").decode() in text


def test_a_body_that_is_no_base64_is_masked_as_text(tmp_path):
    register_secrets({"API_TOKEN": "canary-4711"})
    content = {"mimeType": "image/png", "encoding": "base64", "text": "canary-4711"}
    keep(har(tmp_path, (f"{OURS}/", {"content": content})), tmp_path / "a.har")
    assert "canary" not in (tmp_path / "a.har").read_text()
