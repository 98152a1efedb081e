from __future__ import annotations

from dataclasses import replace

import pytest

from stackrace.deploy.visitor import Reply, difference
from stackrace.measure.workload import Answer, Sameness


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
