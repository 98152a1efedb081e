"""`stackrace compare` on files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner, Result
from tests.core.measure.encoded import encode
from tests.factories import make_load, make_result, make_run

from stackrace.base.errors import InputError
from stackrace.cli.compare import command
from stackrace.report.load_result import document


def save(path: Path, rate: float, *, seconds: float = 3.0, **changes: object) -> None:
    load = make_load(duration_s=seconds)
    made = make_result(rate, load=load, censored=("max",))
    made = replace(made, histogram=encode({1_000_000: 90, 5_000_000: 10}))
    path.write_text(json.dumps({**document(make_run(load, made)), **changes}))


def compare(folder: Path, *more: str) -> Result:
    return CliRunner().invoke(
        command, [str(folder / "a.json"), str(folder / "b.json"), *more], catch_exceptions=True
    )


def test_short_runs_get_no_limits(tmp_path: Path) -> None:
    save(tmp_path / "a.json", 1000.0, seconds=0.5)
    save(tmp_path / "b.json", 1500.0)
    assert "too short" in compare(tmp_path).output
    assert json.loads(compare(tmp_path, "--json").output)["throughput_ratio_low"] is None


def test_loads_that_differ_are_named(tmp_path: Path) -> None:
    save(tmp_path / "a.json", 1000.0)
    save(tmp_path / "b.json", 1000.0, urls=["http://127.0.0.1:9000/"], load={"concurrency": 50})
    text = compare(tmp_path).output
    assert "The loads differ in urls" in text
    assert "The loads differ in concurrency: 20 → 50" in text
    assert "The loads differ in timeout_s: 10.0 → not said" in text


def test_a_run_without_answers_is_compared_all_the_same(tmp_path: Path) -> None:
    save(tmp_path / "a.json", 1000.0, ok=0, throughput_per_s=0, series=[], histogram="")
    save(tmp_path / "b.json", 1500.0)
    done = compare(tmp_path)
    assert isinstance(done.exception, InputError)
    assert "a.json: histogram" in done.exception.message
    save(tmp_path / "a.json", 1000.0, ok=0, throughput_per_s=0, series=[])
    assert "cannot be compared" in compare(tmp_path).output


def test_a_file_that_is_none_is_named_with_its_key(tmp_path: Path) -> None:
    save(tmp_path / "a.json", 1000.0, latency={})
    save(tmp_path / "b.json", 1000.0)
    done = compare(tmp_path)
    assert isinstance(done.exception, InputError)
    assert "a.json: latency.count is missing" in done.exception.message
