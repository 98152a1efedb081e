"""The list of chains that the integration tests launch is complete by construction."""

from tests.chains import balanced, both, last_hops, over_tcp, single_hops, spanning, two_hops

from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

SPECS = catalogue().specs
OFFERED = frozenset({Interface.WSGI, Interface.ASGI})


def test_every_server_of_the_catalogue_stands_in_some_chain():
    chains = [*single_hops(SPECS, OFFERED), *two_hops(SPECS, OFFERED)]
    servers = {hop.server for path in chains for hop in parse_stack(path, SPECS, OFFERED).hops}
    hosts_neither = {name for name, spec in SPECS.items() if not spec.forwards and not spec.hosts & OFFERED}
    assert servers | hosts_neither == set(SPECS)


def test_every_front_end_meets_every_host_that_shares_a_protocol_with_it():
    chains = set(two_hops(SPECS, OFFERED))
    assert {"nginx/uwsgi/uwsgi", "apache/ajp/flup", "varnish/http/apache+mod_wsgi"} <= chains
    for front, spec in SPECS.items():
        for end in last_hops(SPECS, OFFERED):
            shared = spec.forwards.keys() & SPECS[end.split("+")[0]].listens
            assert {f"{front}/{protocol}/{end}" for protocol in shared} <= chains


def test_every_balancer_and_every_protocol_over_tcp_is_there_once():
    assert "nginx/fastcgi/flup:instances=3" in balanced(SPECS, OFFERED)
    assert not [path for path in balanced(SPECS, OFFERED) if path.startswith("h2o/")]
    assert "lighttpd/uwsgi/gunicorn:socket=tcp" in over_tcp(SPECS, OFFERED)
    for chains in (balanced(SPECS, OFFERED), over_tcp(SPECS, OFFERED)):
        kinds = [tuple(path.split("/")[:2]) for path in chains]
        assert len(kinds) == len(set(kinds))
    merged = both(SPECS, OFFERED)
    assert "nginx/fastcgi/flup:socket=tcp,instances=3" in merged
    assert all(parse_stack(path, SPECS, OFFERED) for path in merged)
    assert len(merged) == len(over_tcp(SPECS, OFFERED))


def test_a_few_chains_hold_every_link_of_all_of_them():
    chains = two_hops(SPECS, OFFERED)
    few = spanning(chains)
    assert len(few) < len(chains) / 3
    for first in (True, False):
        links, held = ({tuple(path.split("/")[:2] if first else path.split("/")[1:]) for path in paths}
                       for paths in (chains, few))  # fmt: skip
        assert held == links
