"""Every regular expression of the package reads hostile text in linear time."""

from functools import cache

import pytest
from tests.growth import is_linear, seconds
from tests.patterns import hostile, patterns

_SOON_S = 0.002
"""A pattern that goes back takes longer for a thousand letters; one that is linear is looked at again."""

SHORT = {
    r"\.service$|supervisor[^/]*\.conf$|supervisor/[^/]*\.conf$": "paths, which the kernel bounds",
    r"compose[^/]*\.ya?ml$": "paths",
    r"gunicorn[^/]*\.py$|uwsgi[^/]*\.ini$": "paths",
    r"([Dd]ocker|Container)file[^/]*$|\.sh$|(^|/)[^/.]+$": "paths",
    r"(.+\.service|.*compose.*\.ya?ml|(.+\.)?(Docker|Container)file|Procfile|supervisor.*\.conf|.+\.ini"
    r"|gunicorn.*\.py|.+\.sh)\.(j2|jinja2?|tmpl|tpl|template|erb)": "names of files",
    r"pid|lock_file|load_module|working_directory|.*_temp_path|.*_store(_access)?|state": "names of directives",
}
"""Patterns that are not linear, and what bounds their text."""


@cache
def all_patterns():
    return [(where, pattern) for where, pattern in patterns() if pattern is None or pattern.source not in SHORT]


UNREAD = {
    "base/process/uv.py",
    "features/current/fronts.py",
    "features/export/layout.py",
    "features/publish/exchange.py",
}
"""Files with a pattern that only a call can make."""


def test_every_pattern_can_be_read():
    unread = {
        where.removeprefix("stackrace/").partition(":")[0] for where, pattern in all_patterns() if not pattern
    }
    assert unread == UNREAD


@pytest.mark.parametrize("part", range(8))
def test_a_pattern_does_not_go_back_over_what_it_has_tried(part):
    slow = [
        (where, pattern.source, text_of(40))
        for where, pattern in all_patterns()[part::8]
        if pattern is not None
        for text_of in hostile(pattern)
        if seconds(pattern.look, text_of(1000)) > _SOON_S and not is_linear(pattern.look, text_of)
    ]
    assert slow == []
