"""The command lines of the servers that are Python programs; all in one golden file."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface, Protocol

PROGRAMS = {
    "bjoern": [{}],
    "cheroot": [{}, {"threads": 20}],
    "daphne": [{}, {"access_log": True}],
    "flup": [{}, {"mode": "threaded", "threads": 50, "min_spare": 2}],
    "granian": [
        {},
        {"interface": "asgi", "access_log": True},
        {"blocking_threads": 8},
        {"interface": "asgi", "loop": "rloop", "backpressure": 64},
        {"keep_alive": False, "static": True},
    ],
    "gunicorn": [
        {},
        {"class": "gthread", "threads": 8},
        {"class": "uvicorn", "access_log": True},
        {"class": "uvicorn-h11"},
        {"class": "asgi", "worker_connections": 50},
        {"class": "asgi", "preload": True, "max_requests": 500, "max_requests_jitter": 50, "timeout": 60},
    ],
    "hypercorn": [{}, {"loop": "uvloop", "access_log": True}, {"max_requests": 500, "keep_alive": 5}],
    "uvicorn": [{}, {"access_log": True}, {"max_requests": 500}],
    "waitress": [{}, {"threads": 8}, {"connection_limit": 100, "keep_alive": 5}],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_commands_are_as_in_the_golden_file(name, make_site, next_hop, assert_golden):
    server = catalogue().server(name)
    protocol = Protocol.HTTP if Protocol.HTTP in server.spec.listens else Protocol.FASTCGI
    lines = []
    for chosen in PROGRAMS[name]:
        for socket in server.spec.sockets:
            site = make_site(name, listen=next_hop(protocol, socket)[0], **chosen)
            if chosen_interface := chosen.get("interface"):
                site = replace(site, app=replace(site.app, interface=Interface(chosen_interface)))
            recipe = server.recipe(site)
            lines += [shlex.join(recipe.command), f"  with {' '.join(server.requirements(site.settings))}"]
    assert_golden(f"{name}.txt", "\n".join(lines) + "\n")


def test_gunicorn_speaks_uwsgi_where_it_is_asked_to(make_site, next_hop):
    recipe = catalogue().server("gunicorn").recipe(make_site("gunicorn", listen=next_hop(Protocol.UWSGI)[0]))
    assert "--protocol uwsgi" in " ".join(recipe.command)
