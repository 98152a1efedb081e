"""What is advised on a machine is as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.features.doctor.machines import plan, quiet, watched
from tests.features.doctor.test_advice import CASES, examine
from tests.frozen import product
from tests.frozen.golden import as_document, assert_golden

MACHINES = {
    "quiet": examine(quiet()).advice,
    "all at once": tuple(advice for _, _, bad, _ in CASES for advice in examine(bad).advice),
    "forbidden": examine(quiet(plan=plan(481), watched=watched(steal_s=1.0))).advice,
}
PLACES = {product.VERSION: "VERSION"}


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_is_examined_as_it_was(name, tmp_path):
    examination = replace(examine(quiet()), advice=MACHINES[name])
    said, document = product.doctor(examination, tmp_path), product.doctor(examination, tmp_path, "--json")
    assert_golden(f"doctor/{name}.txt", said.out + said.end, PLACES)
    assert_golden(f"doctor/{name}.json.gz", as_document(document.out) + document.end, PLACES)
