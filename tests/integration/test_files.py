"""Plain files from the race's request to right answers: what a server that sends them is given, and must do."""

import sys
from pathlib import Path

import pytest
from tests.integration.farm import launcher_of

from stackrace.app.app import EntryKind, entry_of
from stackrace.deploy.environments import Environments
from stackrace.deploy.guard import Guard
from stackrace.deploy.launcher import LaunchFailed
from stackrace.deploy.running_stack import facts_of
from stackrace.deploy.shutdown import stop
from stackrace.measure.launch import FailureKind
from stackrace.race.preparation.app_examination import examined_app
from stackrace.race.preparation.chosen_app import asked_app, protected_project
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import Catalogue, Recipe, Server, Site
from stackrace.stacks.setting import Interface, Protocol
from stackrace.stacks.stack import ServerSpec
from stackrace.stacks.stack_path import parse_stack

EXAMPLE = Path(__file__).parents[2] / "examples" / "plain_files"
WRONG = "wrong"


class Standard(Server):
    """The server of Python's standard library; ``wrong`` sends another folder."""

    def __init__(self, name):
        self.spec = ServerSpec(
            name=name, title=name, listens=frozenset({Protocol.HTTP}), hosts=frozenset({Interface.FILES})
        )

    def recipe(self, site: Site) -> Recipe:
        """Serve the root."""
        folder = site.directory if self.spec.name == WRONG else site.app.root
        listen = ("--bind", site.listen.host, str(site.listen.port))
        return Recipe(command=(sys.executable, "-m", "http.server", *listen, "--directory", str(folder)))


CATALOGUE = Catalogue({name: Standard(name) for name in ("standard", WRONG)})


@pytest.fixture
def launch(tmp_path):
    """Return a function that launches a stack with the example's files and gives the facts about it."""
    request = RaceRequest(
        folder=EXAMPLE, entry=entry_of(EntryKind.FILES, "public/"), urls=("/", "/site.css", "/notes/hello.txt")
    )

    def run(path):
        with Guard() as guard:
            asked = asked_app(request)
            project = protected_project(request, asked, guard, str)
            environments = Environments(tmp_path, str)
            loaded = examined_app(request, asked, environments, project, guard.directory / "data", {}, str, str)
            launcher = launcher_of(guard, loaded.app, *loaded.workloads, servers=CATALOGUE)
            running = launcher.launch(parse_stack(path, CATALOGUE.specs, loaded.app.interfaces), timeout_s=120)
            facts = facts_of(running, CATALOGUE)
            assert stop(guard, [running]) == {}
        return facts

    return run


def test_the_folder_is_served_at_the_root_and_needs_no_environment(launch, tmp_path):
    facts = launch("standard")
    assert not {"python", "ruby"} & set(facts.versions)
    assert facts.configs == {}
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("soon_blamed")
def test_another_folder_is_no_right_answer(launch):
    with pytest.raises(LaunchFailed) as failed:
        launch(WRONG)
    assert failed.value.failure.kind is FailureKind.WRONG_ANSWER
