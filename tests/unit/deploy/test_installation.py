"""What is here, what a package brings, and what is the user's own to get."""

from __future__ import annotations

import pytest

from stackrace.deploy.installation import State, availability, install, require
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
    ("entry", "state", "remedy"),
    [
        (Packaged(), State.MISSING, "run: stackrace install packaged"),
        (Unpackaged(), State.NOT_INSTALLED, "build it from example.org and put it on PATH"),
        (Here(), State.READY, ""),
    ],
)
def test_the_state_and_the_remedy(entry, state, remedy):
    found = availability(entry)
    assert (found.state, found.remedy) == (state, remedy)
    assert found.ready == (state is State.READY)


@pytest.mark.parametrize("entry", [Packaged(), Unpackaged()])
def test_a_stack_that_needs_it_is_refused_with_the_remedy(entry):
    catalogue = Catalogue({"packaged": entry})
    stack = parse_stack("packaged", catalogue.specs, frozenset({Interface.WSGI}))
    with pytest.raises(MissingError) as raised:
        require(stack, catalogue)
    assert NOWHERE in raised.value.message
    assert availability(entry).remedy in raised.value.message


def test_what_has_no_package_is_never_asked_of_apt():
    install([Unpackaged()])
