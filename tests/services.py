"""Services for tests that need no app."""

from stackrace.deploy.environments import cache_folder
from stackrace.deploy.folder_templates import Templates
from stackrace.deploy.started_services import Services


def start_services(names, guard, cores):
    """Start empty services, with no app to be prepared, and wait until they answer."""
    chosen = Services(names, guard, cores, Templates(cache_folder(), lambda what: None))
    chosen.start()
    chosen.pin()
    return chosen
