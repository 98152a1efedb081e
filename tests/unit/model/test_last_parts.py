"""A place in an image is known by its last parts."""

from pathlib import Path

import pytest

from stackrace.base.files import by_last_parts

CASES = {
    "the most parts that lead somewhere": ("/srv/app/conf/g.py", 1, "conf/g.py"),
    "one part": ("/app/g.py", 1, "g.py"),
    "too few parts": ("/app/g.py", 2, None),
    "nothing of it": ("/app/h.py", 1, None),
    "no way out": ("../../conf/g.py", 1, "conf/g.py"),
    "nothing at all": ("/", 1, None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_last_parts_lead_there(tmp_path, case):
    (tmp_path / "conf").mkdir()
    for name in ("g.py", "conf/g.py"):
        (tmp_path / name).touch()
    given, least, expected = CASES[case]
    found = by_last_parts(given, [tmp_path], Path.is_file, least)
    assert found == (None if expected is None else tmp_path / expected)
