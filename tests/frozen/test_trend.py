"""The trend of a recorded project is shown as it was."""

from __future__ import annotations

import pytest
from tests.frozen import product
from tests.frozen.golden import as_document, assert_golden, assert_page

PRINTED = {
    "screen.txt": ((), str),
    "document.json.gz": (("--json",), as_document),
    "report.md.gz": (("--markdown",), str),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The URL of a store with all of the project's races, and one of another app."""
    return product.store_of(tmp_path_factory.mktemp("frozen") / "races.sqlite3", product.races("trend"))


@pytest.mark.parametrize("form", PRINTED)
def test_a_trend_is_printed_as_it_was(form, store):
    flags, normalised = PRINTED[form]
    assert_golden(f"trend/{form}", normalised(product.verb("trend", "shop", *flags, store=store)))


def test_its_page_is_as_it_was(store, tmp_path):
    product.verb("trend", "shop", "--html", tmp_path / "page.html", store=store)
    assert_page("trend", tmp_path / "page.html")
