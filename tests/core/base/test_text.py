"""Foreign text is made harmless, and takes nothing of what stands behind it along."""

from pathlib import Path

import pytest

import stackrace
from stackrace.base.text import package_key, printable


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


@pytest.mark.parametrize("name", ["Foo_Bar", "foo.bar", "FOO--bar", "foo-bar"])
def test_a_package_has_one_name_however_it_is_spelt(name):
    assert package_key(name) == "foo-bar"


def test_names_of_packages_are_normalised_in_one_place():
    source = Path(stackrace.__file__).parent
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if "[-_.]+" in path.read_text()}
    # the script that observes runs where nothing of ours is
    assert found == {"base/text.py", "features/current/observe.py"}
