"""Documents read back, and those that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.measure.encoded import encode
from tests.factories import make_load, make_result, make_run

from stackrace.base.errors import InputError
from stackrace.measure.engine.saved_run import Saved, compare, read_saved
from stackrace.report.load_result import document


def content(throughput_per_s: float = 1000.0, **load: Any) -> dict[str, Any]:
    from dataclasses import replace

    result = replace(make_result(throughput_per_s), histogram=encode({1_000_000: 90, 5_000_000: 10}))
    return document(make_run(make_load(**load), result))


def read(folder: Path, saved: object, name: str = "a.json") -> Saved:
    path = folder / name
    path.write_text(saved if isinstance(saved, str) else json.dumps(saved))
    return read_saved(path)


def test_a_document_reads_back(tmp_path: Path) -> None:
    saved = read(tmp_path, content())
    assert saved.throughput_per_s == pytest.approx(1000.0)
    assert (saved.ok, saved.errors, saved.answered) == (2000, 0, 2000)
    assert saved.rates_per_s == pytest.approx([1000.0] * 20)
    assert sum(bucket.count for bucket in saved.buckets) == 100
    assert saved.latency == make_result(1000.0).latency


def test_a_bin_that_the_end_cut_off_is_left_out(tmp_path: Path) -> None:
    short = content()
    short["duration_s"] = 1.95
    assert len(read(tmp_path, short).rates_per_s) == 19


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"schema": "race-1"}, "schema"),
        ({"schema": None}, "schema"),
        ({"throughput_per_s": "fast"}, "throughput_per_s"),
        ({"throughput_per_s": -1}, "throughput_per_s"),
        ({"throughput_per_s": True}, "throughput_per_s"),
        ({"throughput_per_s": 10**400}, "throughput_per_s"),
        ({"ok": 1.5}, "ok"),
        ({"failed": {"read": -1}}, "failed.read"),
        ({"failed": []}, "failed"),
        ({"latency": {"count": 1}}, "latency.mean"),
        ({"urls": [1]}, "urls"),
        ({"series": [{}]}, "series[0].start_s"),
        ({"series": [3]}, "series"),
        ({"series": [{"start_s": 1, "ok": 1}, {"start_s": 0.5, "ok": 1}]}, "series"),
        ({"histogram": "no base64!"}, "histogram"),
        ({"histogram": "AAAA"}, "histogram"),
        ({"histogram": 5}, "histogram"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_key(tmp_path: Path, change: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, {**content(), **change}, "bad.json")
    assert f"bad.json: {key} " in caught.value.message
    assert "stackrace load --json" in caught.value.message


@pytest.mark.parametrize("key", ["ok", "latency", "series", "histogram", "load", "cpu_s"])
def test_what_is_missing_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match=f"{key} is missing"):
        read(tmp_path, {name: value for name, value in content().items() if name != key})


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[1]", '"load-1"', "[" * 100_000, '{"schema": ' + "1" * 5000 + "}"]
)
def test_files_that_hold_no_document_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"a\.json"):
        read(tmp_path, text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.json cannot be read"):
        read_saved(tmp_path / "absent.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"bytes\.json is not JSON"):
        read_saved(tmp_path / "bytes.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(sorted(content())), value=JSON)
def test_no_value_of_any_key_is_more_than_an_input_error(tmp_path: Path, key: str, value: object) -> None:
    try:
        read(tmp_path, {**content(), key: value})
    except InputError as error:
        assert "a.json" in error.message


def test_figures_are_compared_one_by_one(tmp_path: Path) -> None:
    slow, fast = content(1000.0), content(1500.0, concurrency=40)
    slow["latency"]["censored"] = ["p99.9"]
    slow["non2xx"] = 4
    fast["spin_s"] = fast["cpu_s"]
    found = compare(read(tmp_path, slow, "slow.json"), read(tmp_path, fast, "fast.json"))
    lines = {line.name: line for line in found.lines}
    assert list(lines) == [
        "throughput", "mean", "p50", "p90", "p99", "p99.9", "max", "cpu_s_per_request", "errors",
    ]  # fmt: skip
    assert lines["throughput"].ratio == pytest.approx(1.5)
    assert (lines["p99.9"].before_bound, lines["p99.9"].after_bound) == (True, False)
    assert lines["cpu_s_per_request"].ratio == 0.0
    assert (lines["errors"].before, lines["errors"].after) == (4, 0)
    assert {one.what: (one.before, one.after) for one in found.differences} == {"concurrency": (20, 40)}


def test_nothing_divided_by_nothing_is_no_ratio(tmp_path: Path) -> None:
    empty = content()
    empty |= {"ok": 0, "throughput_per_s": 0.0, "latency": {**empty["latency"], "count": 0}}
    found = compare(read(tmp_path, empty, "empty.json"), read(tmp_path, content(), "b.json"))
    assert [line.name for line in found.lines if line.ratio is not None] == []


def test_urls_that_differ_are_named(tmp_path: Path) -> None:
    other = {**content(), "urls": ["http://127.0.0.1:9000/"]}
    (found,) = compare(read(tmp_path, content(), "a.json"), read(tmp_path, other, "b.json")).differences
    assert found.what == "urls"
