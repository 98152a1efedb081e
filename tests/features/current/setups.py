"""Projects as files say them, and what is read of their deployment."""

from tests.folders import write

from stackrace.features.current.deployment import read_project
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface

SPECS = catalogue().specs
ANY = frozenset(Interface)


def current_deployment(*given, **known):
    """Return the deployment that `read_project` finds."""
    return read_project(*given, **known).deployment


def read(folder, files, file=None, **known):
    """Return what the project in ``folder``, with these ``files`` written into it, runs today."""
    found = current_deployment(write(folder, files), SPECS, file, **known)
    assert found is not None
    return found
