"""Recorded runs of the load engine are shown as they were."""

from __future__ import annotations

from tests.frozen import product
from tests.frozen.golden import as_document, assert_golden


def test_all_are_shown_with_their_exit_codes():
    for name in product.recorded("load-"):
        said, document = product.load(name), product.load(name, "--json")
        assert_golden(f"{name}/screen.txt", said.out + said.end)
        assert_golden(f"{name}/document.json.gz", as_document(document.out))
        assert_golden(f"{name}/end of the document.txt", document.end)


def test_two_runs_are_compared_as_they_were(tmp_path):
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(product.load("load-closed", "--json").out)
    after.write_text(product.load("load-again", "--json").out)
    places = {str(tmp_path): "FOLDER"}
    assert_golden("compare/screen.txt", product.verb("compare", before, after), places)
    assert_golden("compare/document.json", as_document(product.verb("compare", before, after, "--json")), places)
