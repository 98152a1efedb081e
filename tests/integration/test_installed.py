"""Which servers are missing here, said once for each: the tests that need a missing server are not generated."""

import pytest
from tests.integration.farm import lacking

from stackrace.deploy.installation import lack_of
from stackrace.stacks.servers import catalogue


@pytest.mark.parametrize("entry", list(catalogue()), ids=lambda entry: entry.spec.name)
def test_a_server_of_the_catalogue_is_installed_for_the_tests(entry):
    if lack := lack_of(entry):
        remedy = lack.elsewhere or f"run: {lack.install}"
        pytest.skip(f"{lack.name} is not installed ({lack.missing}); {remedy}")
    # a guest may be installed and yet embed another Python than the tests'
    if misfit := entry.spec.inside and lacking(f"{min(entry.spec.inside)}+{entry.spec.name}"):
        pytest.skip(misfit)
