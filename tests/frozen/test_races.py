"""Recorded races, checks and tunings are shown as they were."""

from __future__ import annotations

import pytest
from tests.frozen import product
from tests.frozen.golden import as_document, as_table, assert_golden, assert_page

CHECKS = product.recorded("check-")
KINDS = [*product.recorded("race-"), *CHECKS, *product.recorded("tuning")]
PRINTED = {
    "screen.txt": ((), str),
    "details.txt.gz": (("--details",), str),
    "document.json.gz": (("--json",), as_document),
    "slices.csv.gz": (("--csv",), as_table),
    "report.md.gz": (("--markdown",), str),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The URL of a store with all of them."""
    return product.store_of(tmp_path_factory.mktemp("frozen") / "races.sqlite3", [*map(product.race, KINDS)])


@pytest.mark.parametrize("form", PRINTED)
@pytest.mark.parametrize("name", KINDS)
def test_a_race_is_printed_as_it_was(name, form, store):
    flags, normalised = PRINTED[form]
    printed = product.verb("report", product.race(name).id, *flags, store=store)
    assert_golden(f"{name}/{form}", normalised(printed))


@pytest.mark.parametrize("name", KINDS)
def test_its_page_is_as_it_was(name, store, tmp_path):
    product.verb("report", product.race(name).id, "--html", tmp_path / "page.html", store=store)
    assert_page(name, tmp_path / "page.html")


@pytest.mark.parametrize("name", KINDS)
def test_its_verb_ends_as_it_did(name, store, tmp_path):
    said = product.end_of(product.race(name), store=store, html=tmp_path / "page.html")
    beside_json = product.end_of(product.race(name), store=store, html=tmp_path / "page.html", as_json=True)
    text = f"{said.out}{said.end}\nwith --json:\n{beside_json.end}"
    assert_golden(f"{name}/end.txt", text, {str(tmp_path): "FOLDER"})


@pytest.mark.parametrize("form", ["junit", "openmetrics", "markdown"])
@pytest.mark.parametrize("name", CHECKS)
def test_a_check_is_written_for_ci_as_it_was(name, form, store, tmp_path):
    written = product.check_file(product.race(name), form, store=store, folder=tmp_path)
    assert_golden(f"{name}/{form}.txt.gz", written)


def test_all_are_listed(store):
    assert_golden("list.txt", product.verb("report", "--list", store=store))
