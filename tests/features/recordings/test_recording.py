"""Recorded files as workloads, whatever they are."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.features.recordings.recorded_sessions import read_recording
from stackrace.features.recordings.recorded_sessions import read_steps as read
from stackrace.features.recordings.recorded_steps import RecordingError
from stackrace.measure.engine.engine import run
from stackrace.measure.load import Load
from stackrace.measure.workload import Answer, AnswerOrigin, Order, Sameness, Workload

SAMPLES = Path(__file__).with_name("samples")


def har(*entries: Mapping[str, object]) -> str:
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


def entry(url: str = "http://shop.example/", *, status: int = 200, **fields: object) -> dict[str, object]:
    return {"request": {"method": "GET", "url": url}, "response": {"status": status}, **fields}


def log(*paths: str) -> str:
    line = '192.0.2.7 - - [10/Oct/2026:13:55:{:02} +0000] "GET {} HTTP/1.1" 200 5\n'
    return "".join(line.format(2 * second, path) for second, path in enumerate(paths))


@pytest.fixture
def file(tmp_path: Path):
    def write(content: str | bytes) -> Path:
        path = tmp_path / "recorded"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_har_file_is_one_visitors_session() -> None:
    recording = read_recording(SAMPLES / "firefox.har")
    workload = recording.workload
    assert (recording.origin, workload.host) == ("http://localhost:8000", "localhost:8000")
    assert (workload.order, workload.cookies, workload.nonce) == (Order.SESSION, False, None)
    assert [answer.status for answer in workload.answers] == [None, 200, 302, 200]
    assert {answer.sameness for answer in workload.answers} == {Sameness.STATUS}


def test_a_log_is_what_many_visitors_asked_for_in_turn() -> None:
    recording = read_recording(SAMPLES / "apache.log")
    workload = recording.workload
    assert (recording.origin, workload.host, workload.order) == (None, "127.0.0.1", Order.TURN)
    assert ("Referer", "http://shop.example/items/") in workload.requests[3].headers


@pytest.mark.parametrize("front", [b"", b"\xef\xbb\xbf", b" \r\n\t", b"\xef\xbb\xbf\n"])
def test_the_first_byte_that_is_not_blank_tells_what_a_file_is(file, front: bytes) -> None:
    assert read_recording(file(front + har(entry()).encode())).workload.order is Order.SESSION
    assert read_recording(file(front + log("/").encode())).workload.order is Order.TURN


def test_a_pipe_of_a_shells_is_read_as_a_file_is() -> None:
    reading, writing = os.pipe()
    os.write(writing, log("/a", "/b").encode())
    os.close(writing)
    recording = read_recording(Path(f"/dev/fd/{reading}"))
    os.close(reading)
    assert [request.path for request in recording.workload.requests] == ["/a", "/b"]


def test_pauses_can_be_left_out(file) -> None:
    path = file(log("/a", "/b"))
    assert [request.think_s for request in read_recording(path).workload.requests] == [0.0, 2.0]
    assert [request.think_s for request in read_recording(path, think=False).workload.requests] == [0.0, 0.0]


def test_cookies_come_from_the_recording_or_from_the_answers() -> None:
    def names(workload: Workload) -> set[str]:
        return {name.lower() for request in workload.requests for name, _ in request.headers}

    recorded = read_recording(SAMPLES / "firefox.har").workload
    given = read_recording(SAMPLES / "firefox.har", cookies=True).workload
    assert (recorded.cookies, given.cookies) == (False, True)
    assert names(recorded) - names(given) == {"cookie"}


def test_bodies_are_compared_where_the_file_holds_them() -> None:
    answers = read_recording(SAMPLES / "mitmproxy.har", bodies=True).workload.answers
    assert answers == tuple(
        Answer(status=200, body=body, content_type="", sameness=Sameness.BODY, origin=AnswerOrigin.RECORDING)
        for body in (b'[{"id": 1}]', b"\xff\x00")
    )
    answers = read_recording(SAMPLES / "firefox.har", bodies=True).workload.answers
    assert [answer.sameness for answer in answers] == [
        Sameness.STATUS,
        Sameness.BODY,
        Sameness.BODY,
        Sameness.STATUS,
    ]


def test_a_session_moves_to_another_server(file) -> None:
    sent = [("Origin", "http://shop.example"), ("referer", "http://shop.example/a"), ("X", "http://shop.example/")]
    elsewhere = [("Referer", "http://shop.example.org/"), ("Origin", "null")]
    headers = [{"name": name, "value": value} for name, value in sent + elsewhere]
    recording = read_recording(
        file(har({**entry(), "request": {"method": "GET", "url": "http://shop.example/", "headers": headers}}))
    )
    moved = recording.at("http://127.0.0.1:8000")
    assert (recording.workload.host, moved.host) == ("shop.example", "127.0.0.1:8000")
    new = [("Origin", "http://127.0.0.1:8000"), ("referer", "http://127.0.0.1:8000/a"), sent[2]]
    assert moved.requests == (replace(recording.workload.requests[0], headers=(*new, *elsewhere)),)
    assert recording.workload.requests[0].headers == (*sent, *elsewhere)


def test_a_log_moves_by_its_host_alone() -> None:
    recording = read_recording(SAMPLES / "apache.log")
    assert recording.at("http://[::1]:8000") == replace(recording.workload, host="[::1]:8000")


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("[a-z]*")))
def test_the_engine_can_send_every_sample(sample: str) -> None:
    workload = read_recording(SAMPLES / sample, think=False).workload
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        result = run(
            address=bound.getsockname(),
            workload=replace(workload, order=Order.TURN),
            load=Load(concurrency=1, requests=len(workload.requests)),
        )
    assert result.counts.failed["connect"] == len(workload.requests)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "empty"),
        ("{}", "log.entries"),
        ("\n<html>\n", "line 2"),
        (b"\x1f\x8b\x08\x00", "gunzip"),
        (b"\xff\xfe{\x00}\x00", "line 1"),
        (b"\x00" * 100_000, "line 1"),
        ('{"log": {"entries": [' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_replayed_is_refused_by_name(file, content: str | bytes, complaint: str) -> None:
    path = file(content)
    with pytest.raises(InputError, match=complaint) as caught:
        read_recording(path)
    assert str(path) in caught.value.message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.har", tmp_path):
        with pytest.raises(InputError, match=r"--session .*cannot be read: [A-Z]") as caught:
            read_recording(path)
        assert str(path) in caught.value.message
        assert "Errno" not in caught.value.message


def test_what_is_longer_than_its_head_is_read_to_the_end(file):
    assert len(read(file(log("/") * 5000)).steps) == 5000
    assert len(read(file(har(entry()) + " " * 100_000)).steps) == 1


def test_a_device_is_refused():
    with pytest.raises(OSError, match="it is a device"):
        read(Path("/dev/zero"))


def test_a_file_beyond_all_bounds_is_not_held(file, monkeypatch):
    monkeypatch.setattr("stackrace.features.recordings.recorded_sessions._HAR_MAX_BYTES", 1 << 20)
    with pytest.raises(RecordingError, match="more than 1 MiB"):
        read(file(har(entry()) + " " * (1 << 20)))
