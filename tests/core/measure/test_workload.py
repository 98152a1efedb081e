"""Right answers: what can be raced, what is fixed in one, and how another differs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base.errors import InputError
from stackrace.measure.engine.visitor import Reply, difference
from stackrace.measure.workload import LARGE_HEAD, MOST_BODY_BYTES, Answer, Sameness, excess, fixed_parts

MIB = 1 << 20


@pytest.mark.parametrize(
    ("fields", "body_bytes", "endless", "said"),
    [
        ((), MOST_BODY_BYTES, False, ""),
        ((), MOST_BODY_BYTES + 1, False, "is larger than 32 MiB: it has 32 MiB"),
        ((), 600 * MIB, True, "does not end: it was still being sent after 600 MiB"),
        ((), 12, True, "does not end: it was still being sent after 12 bytes"),
        # it says how much there is
        ((("content-length", str(5000 * MIB)),), 600 * MIB, True, "is larger than 32 MiB: it has 5,000 MiB"),
        ((("content-length", "5"),), 600 * MIB, True, "does not end: it was still being sent after 600 MiB"),
        ((("x", "y"),) * 1000, 0, False, ""),
        ((("x", "y"),) * 1001, 0, False, LARGE_HEAD),
        ((("x", "y" * MIB),), 0, False, LARGE_HEAD),
    ],
)
def test_an_answer_that_cannot_be_raced_says_why(fields, body_bytes: int, endless: bool, said: str) -> None:
    assert excess(fields, body_bytes, endless) == said


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


def golden(status: int | None, body: bytes = b"", sameness: Sameness = Sameness.STATUS) -> Answer:
    return Answer(status=status, body=body, content_type="", sameness=sameness)


@pytest.mark.parametrize(("status", "expected"), [(200, 200), (404, 404), (200, None), (204, None)])
def test_the_expected_status_is_right(status: int, expected: int | None) -> None:
    assert difference(Reply(status, b""), golden(expected)) == ""


@pytest.mark.parametrize(("status", "expected"), [(204, 200), (200, 404), (302, None), (500, None), (101, None)])
def test_another_status_is_named(status: int, expected: int | None) -> None:
    assert str(status) in difference(Reply(status, b""), golden(expected))


def test_a_body_counts_even_if_any_success_is_right() -> None:
    assert "3 bytes" in difference(Reply(200, b"abc"), golden(None, b"ab", Sameness.BODY))


@pytest.mark.parametrize("body", [b"Your cart", b"<p>\nYour cart\n</p>"])
def test_a_body_has_the_text_that_is_demanded(body: bytes) -> None:
    right = replace(golden(200, b"", Sameness.PARTS), parts=(b"", b"Your cart", b""))
    assert difference(Reply(200, body), right) == ""
    assert "without 'Your cart'" in difference(Reply(200, b"Log in"), right)


def test_parts_in_another_order_are_no_right_body() -> None:
    right = replace(golden(200, b"", Sameness.PARTS), parts=(b"a", b"b", b"c"))
    assert difference(Reply(200, b"a1b2c"), right) == ""
    assert "another order" in difference(Reply(200, b"b1a2c"), right)


@pytest.mark.parametrize(("body", "is_right"), [(b"ab", False), (b"aba", False), (b"abab", True), (b"abXab", True)])
def test_parts_do_not_overlap(body: bytes, is_right: bool) -> None:
    right = replace(golden(200, b"", Sameness.PARTS), parts=(b"ab", b"ab"))
    assert (difference(Reply(200, body), right) == "") == is_right


def test_a_body_of_many_alike_parts_is_read_once_however_it_ends() -> None:
    right = replace(golden(200, b"", Sameness.PARTS), parts=(*[b"<td>"] * 62, b"</html>"))
    assert difference(Reply(200, b"<td>1" * 10_000), right)
