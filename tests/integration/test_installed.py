"""Which servers are missing here, said once for each: the tests that need a missing server are not generated."""

import pytest
from tests.integration.farm import lacking

from stackrace.deploy.installation import missing_item
from stackrace.stacks.servers import catalogue


@pytest.mark.parametrize("entry", list(catalogue()), ids=lambda entry: entry.spec.name)
def test_a_server_of_the_catalogue_is_installed_for_the_tests(entry):
    if item := missing_item(entry):
        remedy = item.elsewhere or f"run: {item.install}"
        pytest.skip(f"{item.name} is not installed ({item.missing}); {remedy}")
    # a guest may be installed and yet embed another Python than the tests'
    if misfit := entry.spec.inside and lacking(f"{min(entry.spec.inside)}+{entry.spec.name}"):
        pytest.skip(misfit)
