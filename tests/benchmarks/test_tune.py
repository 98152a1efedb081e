"""The benchmark of tuning, on a grid that is made up."""

import numpy as np
import pytest
from benchmarks.tuning.grids import made_up, recorded
from benchmarks.tuning.replay import replayed, table


@pytest.mark.exhaustive
def test_every_search_is_replayed_in_the_same_time():
    grid = made_up("database", np.random.default_rng(1), sd=0.02)
    figures = replayed(grid, 2)
    bounded = {"tune", "random search", "single-sample TPE", "formula, or 2n + 1"}
    assert set(figures) == bounded | {"exhaustive"}
    assert all(figures[name]["share"] <= 0.25 for name in bounded)
    assert figures["formula, or 2n + 1"]["regret"] > 0.5
    assert len(list(table([("a", figures)]))) == 2 + len(figures)


def test_recorded_launches_make_a_grid_without_the_blocks_own_weather():
    rows = [
        {"pair": "a/b", "race": "r", "block": block, "stack": stack, "response": value + weather,
         "moment_s": 0.0, "slices": [[0.0, value + weather, 1.0]], "took_s": 2.0,
         "references": ["default", "formula"] if stack == "x" else []}
        for block, weather in ((0, 0.0), (1, 0.4))
        for stack, value in (("x", 1.0), ("y", 2.0))
    ]  # fmt: skip
    grid = recorded("a/b", rows, {"x": (0.0,), "y": (1.0,)})
    assert np.diff(grid.mean) == pytest.approx([1.0])
    assert grid.regret(1) == 0
    assert grid.given == 0
    assert np.abs(grid.residuals[0]).max() == pytest.approx(0.0, abs=1e-9)
