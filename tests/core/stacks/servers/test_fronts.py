"""The configurations of front ends: as in the golden files, and accepted by their own checkers."""

from __future__ import annotations

import socket as sockets
from dataclasses import replace

import pytest

from stackrace.base.errors import StackError
from stackrace.stacks.servers import Endpoint, catalogue
from stackrace.stacks.setting import Interface, Protocol, Socket
from stackrace.stacks.stack_path import parse_stack

FILES = {
    "nginx": ("nginx.conf", "conf"),
    "apache": ("apache.conf", "conf"),
    "caddy": ("Caddyfile", "caddyfile"),
    "lighttpd": ("lighttpd.conf", "conf"),
    "h2o": ("h2o.yaml", "yaml"),
    "cherokee": ("cherokee.conf", "conf"),
    "haproxy": ("haproxy.cfg", "cfg"),
}
"""What its configuration is called, and how its golden files end."""
TURNED = {
    "worker_connections": 512,
    "keep_alive": 5,
    "upstream_connections": 8,
    "buffering": False,
    "sendfile": False,
    "gzip": True,
}
LOGGED = {"access_log": True}
OTHERWISE = {"upstream_keep_alive": False, "access_log": True}
CHOSEN = {
    "nginx": (LOGGED, TURNED),
    "apache": ({},),
    "caddy": ({}, OTHERWISE),
    "lighttpd": (LOGGED,),
    "h2o": ({}, OTHERWISE),
    "cherokee": ({},),
    "haproxy": ({}, {**OTHERWISE, "workers": 64}),
}
"""The settings with which its own checker is asked."""
FRONTS = {name: catalogue().specs[name] for name in FILES}
LINKS = [(name, protocol) for name, spec in FRONTS.items() for protocol in sorted(spec.forwards)]
SERVES = [(name, "") for name, spec in FRONTS.items() if spec.hosts]

VARNISH, OPENLITESPEED = (catalogue().server(name) for name in ("varnish", "openlitespeed"))


def config(site, name):
    return catalogue().server(name).recipe(site).files[FILES[name][0]]


@pytest.mark.parametrize(("name", "protocol"), [link for link in LINKS if link[0] != "haproxy"])
def test_each_protocol_renders_as_in_the_golden_file(name, protocol, make_site, next_hop, assert_golden):
    kind = Socket.TCP if name == "apache" else FRONTS[name].forwards[protocol][0]
    upstream = next_hop(protocol, kind, 1 if name == "apache" or not FRONTS[name].balances else 2)
    assert_golden(f"{name}-{protocol}.{FILES[name][1]}", config(make_site(name, upstream=upstream), name))


@pytest.mark.parametrize(("name", "_"), SERVES)
def test_files_render_as_in_the_golden_file(name, _, make_site, assert_golden):
    chosen = LOGGED if name == "cherokee" else {}
    assert_golden(f"{name}-files.{FILES[name][1]}", config(make_site(name, **chosen), name))


@pytest.mark.parametrize("socket", list(Socket))
def test_each_socket_renders_as_in_the_golden_file(socket, make_site, next_hop, assert_golden):
    site = make_site("haproxy", upstream=next_hop(Protocol.HTTP, socket, instances=2))
    assert_golden(f"haproxy-{socket}.cfg", config(site, "haproxy"))


@pytest.mark.parametrize(
    ("golden", "name", "instances", "chosen"),
    [("nginx-turned.conf", "nginx", 1, TURNED), ("apache-balancer.conf", "apache", 2, {"mpm": "prefork"})],
)
def test_what_can_be_turned_renders_as_in_the_golden_file(
    golden, name, instances, chosen, make_site, next_hop, assert_golden
):
    site = make_site(name, upstream=next_hop("http", instances=instances), **chosen)
    assert_golden(golden, config(site, name))


def accepted():
    for name, protocol in (*LINKS, *SERVES):
        spec = FRONTS[name]
        for socket in spec.forwards[protocol] if protocol else (Socket.TCP,):
            for instances in (1, 3) if protocol and spec.balances else (1,):
                yield name, protocol, socket, instances


@pytest.mark.parametrize(("name", "protocol", "socket", "instances"), list(accepted()))
def test_its_own_checker_accepts_it(
    name, protocol, socket, instances, tmp_path, make_site, next_hop, assert_checks
):
    spec, server = FRONTS[name], catalogue().server(name)
    (tmp_path / "public").mkdir()
    kind = socket if socket in spec.sockets else Socket.TCP
    listen = Endpoint(protocol=Protocol.HTTP, socket=kind, path=tmp_path / "front", port=18080)
    upstream = next_hop(protocol, socket, instances) if protocol else ()
    for number, chosen in enumerate(CHOSEN[name]):
        folder = tmp_path / str(number)
        site = make_site(name, directory=folder, listen=listen, upstream=upstream, **chosen)
        site = replace(site, app=replace(site.app, root=tmp_path / "public"))
        assert_checks(site, server.recipe(site))


@pytest.mark.parametrize("mpm", FRONTS["apache"].setting("mpm").choices)
@pytest.mark.parametrize("max_workers", [1, 512, 4096])
def test_apache_accepts_every_pool(mpm, max_workers, tmp_path, make_site, next_hop, assert_checks):
    pool = {"mpm": mpm, "max_workers": max_workers, "access_log": True}
    site = make_site("apache", directory=tmp_path / "folder", upstream=next_hop("http"), **pool)
    assert_checks(site, catalogue().server("apache").recipe(site))


def test_threads_are_spread_evenly_and_never_too_few(make_site, next_hop):
    text = config(make_site("apache", upstream=next_hop("http"), processes=3, max_workers=512), "apache")
    assert "ThreadsPerChild 171\n" in text
    assert "MaxRequestWorkers 513\n" in text


def test_a_historic_pool_is_written_with_its_own_numbers(make_site, next_hop):
    numbers = {"processes": 8, "min_spare": 5, "max_spare": 20, "max_workers": 256}
    others = {"mpm": "prefork", "max_connections_per_child": 4000, "keep_alive": False}
    text = config(make_site("apache", upstream=next_hop("http"), **numbers, **others), "apache")
    for line in (
        "StartServers 8",
        "ServerLimit 256",
        "MaxRequestWorkers 256",
        "MinSpareServers 5",
        "MaxSpareServers 20",
        "MaxConnectionsPerChild 4000",
        "KeepAlive Off",
    ):
        assert f"{line}\n" in text


@pytest.mark.parametrize(
    ("name", "protocol", "keep", "words"),
    [
        ("nginx", "http", True, "keepalive 64;"),
        ("nginx", "http", False, 'proxy_set_header Connection "close";'),
        ("apache", "http", True, "enablereuse=on"),
        ("apache", "http", False, "disablereuse=on"),
        ("apache", "ajp", True, "disablereuse=on"),
    ],
)
def test_only_http_servers_keep_their_connections_unless_told_otherwise(
    name, protocol, keep, words, make_site, next_hop
):
    text = config(make_site(name, upstream=next_hop(protocol, Socket.TCP), upstream_keep_alive=keep), name)
    assert words in text
    assert keep is ("keepalive 64;" in text) or name == "apache"


def test_nginx_keeps_no_connection_to_a_gateway(make_site, next_hop):
    assert "keepalive 64;" not in config(make_site("nginx", upstream=next_hop("fastcgi")), "nginx")


def test_one_worker_of_lighttpds_is_written_as_none(make_site, next_hop):
    text = config(make_site("lighttpd", upstream=next_hop("scgi"), workers=1), "lighttpd")
    assert "server.max-worker = 0\n" in text


def test_the_workers_of_caddy_are_the_threads_that_run_go_code(make_site, next_hop):
    recipe = catalogue().server("caddy").recipe(make_site("caddy", upstream=next_hop("http"), workers=3))
    assert recipe.environment["GOMAXPROCS"] == "3"


def test_cherokees_worker_itself_is_started_and_its_checker_says_with_2_that_all_is_well(make_site, next_hop):
    recipe = catalogue().server("cherokee").recipe(make_site("cherokee", upstream=next_hop("http")))
    assert (recipe.command[0], recipe.check_code) == ("cherokee-worker", 2)


def test_cherokees_proxy_is_given_a_host_and_a_port():
    stack = parse_stack("cherokee/http/gunicorn", catalogue().specs, frozenset({Interface.WSGI}))
    assert stack.hops[-1].settings["socket"] == Socket.TCP


def test_a_stack_with_several_instances_behind_h2o_is_not_legal():
    with pytest.raises(StackError, match="one instance only"):
        parse_stack("h2o/http/gunicorn:instances=2", catalogue().specs, frozenset({Interface.WSGI}))


@pytest.mark.parametrize("cache", [False, True])
def test_passing_and_keeping_render_as_in_the_golden_files(cache, make_site, next_hop, assert_golden):
    site = make_site("varnish", upstream=next_hop(Protocol.HTTP, instances=2), cache=cache)
    name = "varnish-keeping.vcl" if cache else "varnish-passing.vcl"
    assert_golden(name, VARNISH.recipe(site).files["default.vcl"])


def test_varnish_listens_where_the_site_says(make_site, next_hop):
    upstream = next_hop(Protocol.HTTP)
    tcp = VARNISH.recipe(make_site("varnish", upstream=upstream)).command
    unix = VARNISH.recipe(make_site("varnish", upstream=upstream, listen=next_hop("http")[0])).command
    assert "127.0.0.1:8000,HTTP" in tcp
    assert "/srv/next0/socket,HTTP,mode=666" in unix


@pytest.mark.parametrize("chosen", [{}, {"upstream_keep_alive": False, "cache": True}])
@pytest.mark.parametrize("kind", list(Socket))
def test_varnish_accepts_it(kind, chosen, tmp_path, make_site, next_hop, assert_checks):
    upstream = next_hop(Protocol.HTTP, kind, instances=2)
    with sockets.socket(sockets.AF_UNIX) as next_socket:
        if kind is Socket.UNIX:
            # it warns of a backend's socket that is not there
            next_socket.bind(str(tmp_path / "next"))
            upstream = (replace(upstream[0], path=tmp_path / "next"),)
        site = make_site("varnish", directory=tmp_path / "folder", upstream=upstream, **chosen)
        assert_checks(site, VARNISH.recipe(site))


@pytest.mark.parametrize("protocol", sorted(OPENLITESPEED.spec.forwards))
def test_each_protocol_of_openlitespeed_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    socket = Socket.TCP if protocol == Protocol.AJP else Socket.UNIX
    site = make_site("openlitespeed", upstream=next_hop(protocol, socket))
    files = OPENLITESPEED.recipe(site).files
    assert_golden(f"openlitespeed-{protocol}.conf", files["conf/httpd_config.conf"] + files["conf/vhconf.conf"])


def test_its_server_a_balancer_and_files_render_as_in_the_golden_files(make_site, next_hop, assert_golden):
    balancer = OPENLITESPEED.recipe(make_site("openlitespeed", upstream=next_hop("http", instances=2))).files
    files = OPENLITESPEED.recipe(make_site("openlitespeed", access_log=True)).files
    assert_golden("openlitespeed-server.conf", balancer["conf/httpd_config.conf"])
    assert_golden("openlitespeed-balancer.conf", balancer["conf/vhconf.conf"])
    assert_golden("openlitespeed-files.conf", files["conf/vhconf.conf"])


@pytest.mark.parametrize(("workers", "flag"), [(1, "-d"), (2, "-n")])
def test_openlitespeed_stays_in_the_foreground_and_in_its_own_root(workers, flag, make_site, next_hop):
    recipe = OPENLITESPEED.recipe(make_site("openlitespeed", upstream=next_hop("http"), workers=workers))
    assert recipe.command == ("openlitespeed", flag)
    assert recipe.environment["LSWS_HOME"] == "/srv/site"


def test_files_of_any_suffix_have_a_type(make_site):
    files = OPENLITESPEED.recipe(make_site("openlitespeed")).files
    assert files["conf/mime.properties"].startswith("default = application/octet-stream\n")
    assert "css = text/css" in files["conf/mime.properties"].replace("text/css\n", "text/css ")
