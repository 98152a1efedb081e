"""Recorded reruns of published comparisons are shown as they were."""

from __future__ import annotations

import pytest
from tests.frozen import product
from tests.frozen.golden import as_document, assert_golden, assert_page

NAMES = [name.removeprefix("kept-") for name in product.recorded("kept-")]
PRINTED = {
    "screen.txt": ((), str),
    "document.json.gz": (("--json",), as_document),
    "report.md.gz": (("--markdown",), str),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A user's folder of data with all of them."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "stackrace").mkdir()
    for name in NAMES:
        product.keep_rerun(f"kept-{name}", folder)
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The URL of a store with their races."""
    races = [*map(product.race, product.recorded("rerun-"))]
    return product.store_of(tmp_path_factory.mktemp("frozen") / "races.sqlite3", races)


@pytest.mark.parametrize("form", PRINTED)
@pytest.mark.parametrize("name", NAMES)
def test_a_rerun_is_printed_as_it_was(name, form, store, data):
    flags, normalised = PRINTED[form]
    printed = product.verb("report", f"historic/{name}", *flags, store=store, data=data)
    assert_golden(f"rerun-{name}/{form}", normalised(printed))


@pytest.mark.parametrize("name", NAMES)
def test_its_page_is_as_it_was(name, store, data, tmp_path):
    product.verb("report", f"historic/{name}", "--html", tmp_path / "page.html", store=store, data=data)
    assert_page(f"rerun-{name}", tmp_path / "page.html")
