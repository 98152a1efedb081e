from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base.errors import InputError
from stackrace.measure.expectation import fixed_parts


@pytest.mark.parametrize(
    ("body", "masks", "parts"),
    [
        (b"<p>12:30</p>", [r"\d+:\d+"], (b"<p>", b"</p>")),
        (b"id=7 and id=8", [r"\d"], (b"id=", b" and id=", b"")),
        (b"7 of 9", [r"\d"], (b"", b" of ", b"")),
        (b"<i>a</i><b>b</b>", ["<i>.*</i>", "<b>.*</b>"], (b"", b"")),
        (b"abcdef", ["bc", "cd", "e"], (b"a", b"f")),
        ("größe: 3".encode(), ["ö", r"\d$"], (b"gr", "ße: ".encode(), b"")),
    ],
)
def test_what_is_between_the_matches_is_fixed(body: bytes, masks: list[str], parts: tuple[bytes, ...]) -> None:
    assert fixed_parts(body, masks) == parts


@pytest.mark.parametrize(
    ("mask", "complaint"), [("(", "no regular expression"), ("x", "matches nothing"), ("x*", "matches nothing")]
)
def test_masks_that_mask_nothing_are_refused_by_name(mask: str, complaint: str) -> None:
    with pytest.raises(InputError, match=rf"--mask .*{complaint}"):
        fixed_parts(b"abc", [mask])


@given(st.binary(max_size=60))
def test_the_body_starts_and_ends_with_its_parts_and_has_them_in_order(body: bytes) -> None:
    body += b"1"
    parts = fixed_parts(body, [r"[0-9a-f]+"])
    assert len(parts) >= 2
    assert body.startswith(parts[0])
    assert body.endswith(parts[-1])
    position = 0
    for part in parts:
        position = body.index(part, position) + len(part)
