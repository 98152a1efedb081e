"""Which stacks are raced when nobody says, which are left out and why, and what two spellings of one stack get."""

from types import SimpleNamespace

import pytest

from stackrace.base.errors import InputError, StackError
from stackrace.deploy import installation
from stackrace.race.preparation import choosing, defaults
from stackrace.race.preparation.choosing import asked
from stackrace.race.preparation.defaults import most_used
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface

NGINX = SimpleNamespace(name="nginx", missing="install it")
WSGI, ASGI = frozenset({Interface.WSGI}), frozenset({Interface.ASGI})


@pytest.fixture(autouse=True)
def _installed(monkeypatch):
    """All is installed here but Apache's module for WSGI, which hosts one Python only, as it does everywhere."""

    def missing_from(stack, entries):
        return [NGINX] if stack.hops[0].server == "nginx" else []

    monkeypatch.setattr(installation, "missing_from", missing_from)


def left_out(offered, python):
    return most_used(catalogue(), offered, python)[1]


def test_a_default_stack_that_hosts_another_python_is_left_out_with_the_reason():
    (embedded, *_) = [each for each in left_out(WSGI, (3, 13)) if each.stack == "apache+mod_wsgi"]
    assert embedded.reason.startswith("mod_wsgi embeds Python 3.11, but the app's environment has 3.13")
    assert not any(each.stack == "apache+mod_wsgi" for each in left_out(WSGI, (3, 11)))


def test_a_default_stack_that_is_not_installed_is_left_out_with_the_command_that_installs_it():
    (first, *_) = left_out(WSGI, (3, 11))
    assert (first.stack, first.reason) == ("nginx/http/gunicorn", "nginx is not installed (install it)")


def test_what_would_never_have_been_raced_is_not_left_out():
    stacks, absent = most_used(catalogue(), WSGI, (3, 11))
    assert absent
    last = defaults.STACKS.index(stacks[-1].path)
    assert all(defaults.STACKS.index(each.stack) < last for each in absent)
    assert left_out(ASGI, (3, 13)) == ()


def test_each_stack_races_once_however_its_path_is_spelled():
    paths = [stack.path for stack in most_used(catalogue(), ASGI, (3, 13))[0]]
    assert "granian" in paths
    assert "granian:interface=asgi" not in paths
    both = [stack.path for stack in most_used(catalogue(), WSGI | ASGI, (3, 13))[0]]
    assert "granian" in both


@pytest.mark.parametrize(
    ("offered", "paths"),
    [
        (ASGI, ("granian", "granian:interface=asgi")),
        (WSGI, ("gunicorn:workers=2", "gunicorn")),
        (WSGI, ("gunicorn:workers=3,class=gthread", "gunicorn:class=gthread,workers=3")),
        (WSGI, ("apache+mod_wsgi:mode=daemon", "apache+mod_wsgi")),
    ],
)
def test_two_spellings_of_one_stack_are_refused_with_both(offered, paths):
    with pytest.raises(StackError) as raised:
        asked(paths, catalogue(), offered)
    assert all(repr(path) in raised.value.message for path in paths)
    assert "are one" in raised.value.message


def test_stacks_that_differ_are_raced_both():
    paths = ("granian", "granian:interface=asgi", "granian:workers=3", "gunicorn", "nginx/http/gunicorn")
    assert len(asked(paths, catalogue(), WSGI | ASGI)) == len(paths)


def test_a_further_way_to_call_an_app_by_one_interface_is_another_stack():
    paths = ("granian", "granian:interface=asginl")
    assert [stack.path for stack in asked(paths, catalogue(), ASGI)] == list(paths)


def without_lifespan(failing, *paths):
    stacks = asked(paths, catalogue(), ASGI)
    return choosing._without_lifespan(stacks, SimpleNamespace(needs_lifespan=lambda: failing), catalogue())


@pytest.mark.parametrize("silent", ["daphne", "granian:interface=asginl"])
def test_a_server_that_sends_no_lifespan_events_is_left_out_of_what_needs_them(silent):
    paths = ("uvicorn", silent)
    stacks, absent = without_lifespan("/ answers 500", *paths)
    assert [stack.path for stack in stacks] == ["uvicorn"]
    reason = "sends no lifespan events, which this app needs: without them / answers 500"
    assert [(each.stack, each.reason) for each in absent] == [(silent, reason)]
    assert [stack.path for stack in without_lifespan("", *paths)[0]] == list(paths)
    with pytest.raises(InputError, match=rf"stack '{silent}' sends no lifespan events, .*; race another stack"):
        without_lifespan("/ answers 500", silent)


@pytest.mark.parametrize(("web_sockets", "paths"), [(True, ("gunicorn",)), (False, ())])
def test_stacks_of_wsgi_serve_no_web_sockets(web_sockets, paths):
    stacks = asked(("gunicorn", "uvicorn"), catalogue(), WSGI | ASGI)
    examined = SimpleNamespace(django=SimpleNamespace(web_sockets=web_sockets))
    assert choosing.unserved(stacks, examined) == paths
    assert choosing.unserved(stacks, SimpleNamespace(django=None)) == ()
