"""What is here, what a package brings, and what is the user's own to get."""

from __future__ import annotations

import pytest

from stackrace.deploy.installation import lack_of, require
from stackrace.model.errors import MissingError
from stackrace.model.stack import Interface, Protocol, ServerSpec
from stackrace.servers import Catalogue, Needs, Recipe, Server, Site
from stackrace.spec.stack_path import parse_stack

NOWHERE = "no-such-program-anywhere"


class Packaged(Server):
    """Lacks its program, which a package brings."""

    spec = ServerSpec(
        name="packaged",
        title="Packaged",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
    )
    needs = Needs(apt=("a-package",), binary=NOWHERE)

    def recipe(self, site: Site) -> Recipe:
        """Never asked for."""
        raise NotImplementedError


class Unpackaged(Packaged):
    """Lacks its program, and Debian has none."""

    needs = Needs(binary=NOWHERE, elsewhere="build it from example.org and put it on PATH")


class Here(Unpackaged):
    """A user's own build that is found."""

    needs = Needs(binary="sh", elsewhere="build it from example.org and put it on PATH")


@pytest.mark.parametrize(
    ("entry", "state", "install", "elsewhere"),
    [
        (Packaged(), "missing", "stackrace install packaged", ""),
        (Unpackaged(), "not installed", "", "build it from example.org and put it on PATH"),
    ],
)
def test_the_state_and_the_remedy(entry, state, install, elsewhere):
    lack = lack_of(entry)
    assert (lack.state, lack.install, lack.elsewhere) == (state, install, elsewhere)


def test_a_build_of_the_users_own_lacks_nothing():
    assert lack_of(Here()) is None


@pytest.mark.parametrize("entry", [Packaged(), Unpackaged()])
def test_a_stack_that_needs_it_is_refused(entry):
    catalogue = Catalogue({"packaged": entry})
    stack = parse_stack("packaged", catalogue.specs, frozenset({Interface.WSGI}))
    with pytest.raises(MissingError) as raised:
        require(stack, catalogue)
    assert NOWHERE in raised.value.message
    assert "packaged is not installed" in raised.value.message
