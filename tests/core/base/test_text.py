"""Foreign text is made harmless, and takes nothing of what stands behind it along."""

import pytest

from stackrace.base.text import printable


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b]0;title\x07rest", "rest"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("'\x1b]0;title' is no app; write --wsgi a:b", "'\ufffd]0;title' is no app; write --wsgi a:b"),
        ("\x1b]0;title\nwhat to do\x07", "\ufffd]0;title\nwhat to do\ufffd"),
        ("\x1b]0;title\x1b[31mrest", "\ufffd]0;titlerest"),
    ],
)
def test_only_whole_sequences_are_left_out(text, left):
    assert printable(text) == left
