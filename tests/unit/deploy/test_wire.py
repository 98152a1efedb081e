from __future__ import annotations

import pytest

from stackrace.deploy.wire import Reply, difference
from stackrace.model.workload import Answer, Sameness


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
