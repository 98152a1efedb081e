"""Bars and blocks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stackrace.report.characters import meter, sparkline


def test_bars_are_exact_to_an_eighth() -> None:
    assert [meter(share, 2) for share in (0, 1e-9, 1 / 16, 0.5, 0.75, 1, 2)] == [
        "",
        "▏",
        "▏",
        "█",
        "█▌",
        "██",
        "██",
    ]


@given(st.lists(st.floats(0, 1e9), max_size=300), st.integers(1, 80))
def test_a_sparkline_is_never_wider_than_asked(values: list[float], width: int) -> None:
    line = sparkline(values, width)
    assert len(line) == min(len(values), width)
    assert set(line) <= set("▁▂▃▄▅▆▇█")


def test_a_sparkline_rises_from_zero_to_the_largest() -> None:
    assert sparkline([0, 0, 10, 10], 2) == "▁█"
    assert sparkline([0.0, 0.0]) == "▁▁"
