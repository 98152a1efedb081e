from __future__ import annotations

import pytest
from tests.cluster.lab import why_no_lab

from stackrace.setup.prepared import prepared
from stackrace.spec.request import RaceRequest

WHY_NOT = why_no_lab()


@pytest.fixture(scope="module", autouse=True)
def machines_can_be_had(tmp_path_factory):
    """Skip where no machines can be made; what races install is installed here, where there is a network."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    folder = tmp_path_factory.mktemp("installed")
    request = RaceRequest(folder=folder, bundled="django", stacks=("gunicorn", "waitress"), concurrency=(4,))
    with prepared(request):
        pass
