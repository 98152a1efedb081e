"""What must hold of a recording whatever the bytes it is read from: seeds and samples, whole and damaged."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.recordings.recorded_sessions import read_steps as read
from stackrace.features.recordings.recorded_steps import MAX_STEPS, RecordingError, is_value
from stackrace.measure.engine.url import is_token

HERE = Path(__file__).parent
FILES = sorted([*(HERE / "seeds").iterdir(), *(HERE / "samples").iterdir()])


def from_bytes(content, folder):
    path = folder / "recorded"
    path.write_bytes(content)
    try:
        return read(path)
    except RecordingError:
        return None


def check(content, folder):
    """Read ``content`` and check what comes out, if anything does."""
    recording = from_bytes(content, folder)
    if recording is None:
        return
    assert 1 <= len(recording.steps) <= MAX_STEPS
    assert all(number > 0 for number in recording.skipped.values())
    assert all(can_be_sent(step.request, step.status) for step in recording.steps)
    assert not recording.steps[0].request.embedded
    if recording.origin is not None:
        assert all(step.request.think_s == 0 for step in recording.steps if step.request.embedded)
        assert from_bytes(b"\xef\xbb\xbf" + content.removeprefix(b"\xef\xbb\xbf"), folder) == recording
    else:
        lines = content.count(b"\n") + 1
        assert len(recording.steps) + sum(recording.skipped.values()) <= lines


def can_be_sent(request, status):
    return (
        is_token(request.method)
        and request.path.startswith("/")
        and all("!" <= character <= "~" and character != "#" for character in request.path)
        and all(is_token(name) and is_value(value) for name, value in request.headers)
        and 0 <= request.think_s <= 24 * 3600
        and 200 <= status < 600
        and (not request.embedded or request.method in ("GET", "HEAD"))
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_seed_holds(path, tmp_path):
    check(path.read_bytes(), tmp_path)


PLACES = st.integers(0, 10_000)
DAMAGE = st.lists(st.tuples(PLACES, PLACES, st.binary(max_size=4) | st.sampled_from([b'"', b"\\", b"{", b"]"])))


@given(path=st.sampled_from(FILES), damage=DAMAGE)
def test_damage_does_no_harm(path, damage, tmp_path_factory):
    content = path.read_bytes()
    for start, length, patch in damage:
        at = start % (len(content) + 1)
        content = content[:at] + patch + content[at + length % 5 :]
    check(content, tmp_path_factory.getbasetemp())
