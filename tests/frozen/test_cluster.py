"""What is said of the machines of a cluster is as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.features.cluster.test_examining import ENGINE, HOST, OTHER, SECOND, examined
from tests.frozen import product
from tests.frozen.golden import as_document, assert_golden

PLACES = {product.VERSION: "VERSION"}
MEMBERS = (HOST, replace(OTHER, clock=None), ENGINE)


def test_the_machines_of_a_cluster_are_shown_as_they_were():
    for name, members in {"some": MEMBERS, "nobody": ()}.items():
        said, document = product.cluster(members), product.cluster(members, "--json")
        assert_golden(f"cluster/{name}.txt", said.out + said.end, PLACES)
        assert_golden(f"cluster/{name}.json", as_document(document.out) + document.end, PLACES)


CLUSTERS = {
    "fits": lambda: examined(HOST, ENGINE),
    "faulty": lambda: examined(HOST, replace(ENGINE, version="0.0.1"), SECOND, cut_off=("load-2",)),
    "forbidden": lambda: examined(HOST, concurrency=1_000_000),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_is_examined_as_it_was(name):
    found, _ = CLUSTERS[name]()
    said, document = product.doctor_of_cluster(found), product.doctor_of_cluster(found, "--json")
    assert_golden(f"doctor/cluster, {name}.txt", said.out + said.end, PLACES)
    assert_golden(f"doctor/cluster, {name}.json.gz", as_document(document.out) + document.end, PLACES)
