import io
from pathlib import Path

import pytest

from stackrace.features.recordings.recorded import RecordingError, read
from stackrace.features.recordings.recorded.reading import _whole

HAR = b'{"log": {"entries": [{"request": {"method": "GET", "url": "http://a/"}, "response": {"status": 200}}]}}'
LOG = b'192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5\n'


@pytest.fixture
def recorded(tmp_path):
    def from_bytes(content):
        path = tmp_path / "recorded"
        path.write_bytes(content)
        return read(path)

    return from_bytes


@pytest.mark.parametrize("front", ["", "\n \t", "\ufeff", "\ufeff\r\n"])
def test_the_first_byte_that_is_not_blank_tells_them_apart(front, recorded):
    assert recorded(front.encode() + HAR).is_session
    assert not recorded(front.encode() + LOG).is_session


def test_what_is_longer_than_its_head_is_read_to_the_end(recorded):
    assert len(recorded(LOG * 5000).steps) == 5000
    assert len(recorded(HAR + b" " * 100_000).steps) == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"", "empty"), (b"{}", "log.entries"), (b"\x1f\x8b\x08", "gunzip"), (b"[1]", "line 1 is not of")],
)
def test_what_is_neither_is_refused_as_what_it_seems_to_be(content, complaint, recorded):
    with pytest.raises(RecordingError, match=complaint):
        recorded(content)


def test_a_device_is_refused():
    with pytest.raises(OSError, match="it is a device"):
        read(Path("/dev/zero"))


def test_a_file_beyond_all_bounds_is_not_held():
    assert _whole(b"{", io.BytesIO(b"}"), 2) == b"{}"
    for head in (b"{", b"{ }"):
        with pytest.raises(RecordingError, match="more than 0 MiB"):
            _whole(head, io.BytesIO(b"  "), 2)
