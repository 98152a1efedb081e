"""The grammar of stacks, against the real catalogue."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base.errors import StackError
from stackrace.deploy.environments import package_of
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface, Origin, Protocol
from stackrace.stacks.stack_path import parse_stack

SPECS = catalogue().specs
WSGI = frozenset({Interface.WSGI})
BOTH = WSGI | {Interface.ASGI}

LEGAL = [
    "gunicorn:workers=4,class=gthread,threads=8",
    "nginx/http/gunicorn",
    "nginx/uwsgi/uwsgi:processes=4",
    "nginx/fastcgi/flup:mode=prefork,processes=5",
    "apache+mod_wsgi:mode=daemon,processes=5,threads=1",
    "nginx/http/apache+mod_wsgi",
    "apache/ajp/flup",
    "nginx/http/cheroot:instances=5",
    "nginx/uwsgi/uwsgi@2.0.30:processes=4",
    "gunicorn@27.0.0rc1",
]


@pytest.mark.parametrize("path", LEGAL)
def test_a_canonical_path_names_its_stack(path):
    stack = parse_stack(path, SPECS, WSGI)
    assert stack.path == path
    assert parse_stack(stack.path, SPECS, WSGI) == stack


def test_a_version_is_part_of_what_a_stack_is():
    plain, short, whole = (
        parse_stack(path, SPECS, WSGI).identity for path in ("gunicorn", "gunicorn@23", "gunicorn@23.0.0")
    )
    assert plain != short == whole


def test_every_server_of_pypi_says_which_package_it_is():
    for entry in catalogue():
        wanted = entry.requirements({setting.name: setting.default for setting in entry.spec.settings})
        assert entry.spec.package == (package_of(wanted[0]) if wanted else "")


def test_settings_are_typed_and_defaults_filled_in():
    (hop,) = parse_stack("gunicorn:workers=3,access_log=on", SPECS, WSGI).hops
    assert hop.settings["workers"] == 3
    assert hop.settings["access_log"] is True
    assert hop.settings["class"] == "sync"
    assert hop.origins["workers"] is Origin.TUNED
    assert hop.chosen == {"workers": 3, "access_log": True}


def test_guests_stay_inside_and_wires_lead_on():
    stack = parse_stack("nginx/http/apache+mod_wsgi", SPECS, WSGI)
    assert [hop.protocol for hop in stack.hops] == [Protocol.HTTP, Protocol.HTTP, None]
    assert [[hop.server for hop in group] for group in stack.processes] == [["nginx"], ["apache", "mod_wsgi"]]


def test_a_guest_asks_its_host_for_settings_and_the_path_may_overrule():
    def mpm_of(path):
        return parse_stack(path, SPECS, WSGI).hops[0].settings["mpm"]

    assert mpm_of("apache+mod_wsgi") == "event"
    assert mpm_of("apache+mod_python") == "prefork"
    assert mpm_of("apache:mpm=worker+mod_python") == "worker"


def test_the_socket_is_what_both_ends_know():
    def socket_of(path):
        return parse_stack(path, SPECS, WSGI).hops[-1].settings["socket"]

    assert socket_of("nginx/http/gunicorn") == "unix"
    assert socket_of("nginx/http/gunicorn:socket=tcp") == "tcp"
    assert socket_of("apache/ajp/flup") == "tcp"


def test_the_interface_follows_the_app_and_the_settings():
    assert parse_stack("granian", SPECS, BOTH).interface is Interface.WSGI
    assert parse_stack("granian", SPECS, frozenset({Interface.ASGI})).interface is Interface.ASGI
    assert parse_stack("granian:interface=asgi", SPECS, BOTH).interface is Interface.ASGI
    assert parse_stack("gunicorn:class=uvicorn", SPECS, BOTH).interface is Interface.ASGI


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "write server"),
        ("nginx/http", "write server"),
        ("/gunicorn", "write server"),
        ("gunicron", "did you mean gunicorn"),
        ("current", "--current FILE"),
        ("gunicorn:worker=2", "did you mean workers"),
        ("gunicorn:workers", "needs a value"),
        ("gunicorn:workers=two", "a number from 1 to"),
        ("gunicorn:workers=1,workers=2", "given twice"),
        ("gunicorn:class=gthreads", "did you mean gthread"),
        ("gunicorn:access_log=maybe", "on or off"),
        ("gunicorn:instances=2", "no setting 'instances'"),
        ("nginx/ajp/gunicorn", "nginx does not forward ajp"),
        ("nginx/fastcgi/gunicorn", "gunicorn does not listen to fastcgi"),
        ("nginx/htp/gunicorn", "did you mean http"),
        ("gunicorn/http/waitress", "gunicorn forwards nothing"),
        ("nginx+gunicorn", "process of its own"),
        ("nginx+mod_wsgi", "lives inside apache"),
        ("nginx/http/mod_wsgi", "joined by +"),
        ("flup", "does not speak http"),
        ("nginx", "hosts no application itself"),
        ("nginx", "as in nginx/http/gunicorn"),
        ("apache", "as in apache+mod_wsgi"),
        ("puma", "puma hosts rack here, but the app is wsgi"),
        ("apache/ajp/flup:socket=unix", "cannot use socket=unix"),
        ("nginx@1.2/http/gunicorn", "write nginx, and install the version"),
        ("gunicorn@23.0.x", "names no version; write one that PyPI has, as in gunicorn@"),
        ("gunicorn@", "names no version"),
        ("gunicorn==23", "write gunicorn@23 "),
        ("gunicorn:version=23.0.0", "written gunicorn@23.0.0, before the settings"),
    ],
)
def test_what_is_not_legal_says_which_part_and_what_would_fit(path, words):
    with pytest.raises(StackError) as raised:
        parse_stack(path, SPECS, WSGI)
    assert words in raised.value.message


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("gunicorn:threads=4", "does nothing with class=sync; use class=gthread, or leave threads out"),
        ("gunicorn:worker_connections=9", "use class=gthread or class=gevent or class=asgi"),
        ("apache+mod_wsgi:mode=embedded,processes=5", "use mode=daemon"),
        ("apache:min_spare=3+mod_wsgi", "use mpm=prefork"),
        ("granian:interface=asgi,blocking_threads=3", "use interface=wsgi"),
    ],
)
def test_a_setting_that_would_do_nothing_is_refused_with_what_would_give_it_a_meaning(path, words):
    with pytest.raises(StackError, match=re.escape(words)):
        parse_stack(path, SPECS, BOTH)


@pytest.mark.parametrize(
    "path",
    ["apache:min_spare=3+mod_python", "granian:loop=uvloop", "granian:blocking_threads=3", "gunicorn:class=sync"],
)
def test_a_setting_whose_condition_is_met_or_left_to_the_app_stands(path):
    assert parse_stack(path, SPECS, BOTH).path == path


def test_an_interface_the_app_does_not_offer_names_servers_that_would_do():
    with pytest.raises(StackError, match=r"hosts asgi here, but the app is wsgi.*gunicorn"):
        parse_stack("uvicorn", SPECS, WSGI)


@pytest.mark.parametrize(
    ("path", "offered", "words"),
    [
        ("nginx", Interface.ASGI, "nginx hosts no application itself"),
        ("apache", Interface.ASGI, "as in apache/http/uvicorn"),
        ("nginx", Interface.RACK, "as in nginx/http/puma"),
        ("apache", Interface.RACK, "as in apache+passenger"),
        ("gunicorn", Interface.RACK, "the app is rack; use passenger or puma"),
        ("nginx/http/gunicorn", Interface.FILES, "gunicorn hosts wsgi with these settings, but the app is files"),
        # a server that hosts the app with a setting is offered with it
        (
            "gunicorn",
            Interface.ASGI,
            "use gunicorn:class=asgi, gunicorn:class=uvicorn, gunicorn:class=uvicorn-h11, daphne",
        ),
        ("nginx/http/gunicorn:class=gthread", Interface.ASGI, "use gunicorn:class=asgi"),
        ("granian:interface=asgi", Interface.WSGI, "use granian, "),
        (
            "waitress",
            Interface.ASGI,
            "granian, gunicorn:class=asgi, gunicorn:class=uvicorn, gunicorn:class=uvicorn-h11, hypercorn",
        ),
    ],
)
def test_what_does_not_host_the_app_says_what_would(path, offered, words):
    with pytest.raises(StackError) as raised:
        parse_stack(path, SPECS, frozenset({offered}))
    assert words in raised.value.message


def test_a_front_end_that_sends_files_still_hosts_no_application():
    front = replace(SPECS["nginx"], hosts=frozenset({Interface.FILES}))
    with pytest.raises(StackError, match=r"hosts no application itself; .* as in nginx/http/gunicorn"):
        parse_stack("nginx", SPECS | {"nginx": front}, WSGI)
    assert parse_stack("nginx", SPECS | {"nginx": front}, frozenset({Interface.FILES})).interface is Interface.FILES


def test_a_front_end_that_sends_no_files_says_who_would():
    front = replace(SPECS["nginx"], hosts=frozenset())
    with pytest.raises(StackError, match="sends no files itself"):
        parse_stack("nginx", SPECS | {"nginx": front}, frozenset({Interface.FILES}))


@given(st.text(alphabet="abgnuix/+:=,0_@.", max_size=30))
def test_any_text_is_a_stack_or_a_stack_error(text):
    try:
        stack = parse_stack(text, SPECS, BOTH)
    except StackError:
        return
    assert parse_stack(stack.path, SPECS, BOTH) == stack


def test_a_setting_may_rule_a_protocol_out():
    assert parse_stack("nginx/uwsgi/gunicorn:class=asgi", SPECS, BOTH).interface is Interface.ASGI
    with pytest.raises(StackError, match="gunicorn:class=uvicorn does not listen to uwsgi, only to http"):
        parse_stack("nginx/uwsgi/gunicorn:class=uvicorn", SPECS, BOTH)


@pytest.mark.parametrize(
    "path", ["openlitespeed/http/openlitespeed/http/gunicorn", "nginx/http/openlitespeed:instances=2/http/gunicorn"]
)
def test_a_server_that_can_run_once_stands_in_a_stack_once(path):
    with pytest.raises(StackError, match="only one OpenLiteSpeed can run on a machine"):
        parse_stack(path, SPECS, WSGI)
    assert parse_stack("openlitespeed/http/gunicorn", SPECS, WSGI).is_alone
