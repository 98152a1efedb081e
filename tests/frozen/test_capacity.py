"""Recorded searches for a capacity are shown as they were."""

from __future__ import annotations

from tests.frozen import product
from tests.frozen.golden import as_document, assert_golden


def test_all_are_shown_with_their_exit_codes():
    for name in product.recorded("capacity-"):
        said, document = product.capacity(name), product.capacity(name, "--json")
        assert_golden(f"{name}/screen.txt", said.out + said.end)
        assert_golden(f"{name}/document.json.gz", as_document(document.out))
        assert_golden(f"{name}/end of the document.txt", document.end)
