"""What must hold of a recording whatever the bytes it is read from: seeds and samples, whole and damaged."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.recordings.recording import read_steps as read
from stackrace.features.recordings.steps import MAX_STEPS, THINK_MAX_NS, RecordingError, is_value
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
    assert all(can_be_sent(step) for step in recording.steps)
    assert not recording.steps[0].embedded
    if recording.is_session:
        assert recording.origin
        assert all(step.think_ns == 0 for step in recording.steps if step.embedded)
        assert from_bytes(b"\xef\xbb\xbf" + content.removeprefix(b"\xef\xbb\xbf"), folder) == recording
    else:
        lines = content.count(b"\n") + 1
        assert len(recording.steps) + sum(recording.skipped.values()) <= lines


def can_be_sent(step):
    return (
        is_token(step.method)
        and step.path.startswith("/")
        and all("!" <= character <= "~" and character != "#" for character in step.path)
        and all(is_token(name) and is_value(value) for name, value in step.headers)
        and 0 <= step.think_ns <= THINK_MAX_NS
        and (step.status is None or 200 <= step.status < 600)
        and (not step.embedded or step.method in ("GET", "HEAD"))
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
