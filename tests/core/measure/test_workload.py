from __future__ import annotations

import pytest

from stackrace.measure.workload import LARGE_HEAD, MOST_BODY_BYTES, excess

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
