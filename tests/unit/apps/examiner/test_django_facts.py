"""Django's settings as Django itself understands them."""

from types import SimpleNamespace

import pytest

from stackrace.apps.examiner.django_facts import _allowed_hosts


@pytest.mark.parametrize(
    ("hosts", "debug", "allowed"),
    [
        (["shop.example.com"], False, ["shop.example.com"]),
        ([None], False, []),
        ([""], True, []),
        ([], False, []),
        ([], True, ["localhost", "127.0.0.1", "[::1]"]),
    ],
)
def test_no_host_under_debug_means_loopback_and_a_variable_that_is_not_set_means_none(hosts, debug, allowed):
    assert _allowed_hosts(SimpleNamespace(ALLOWED_HOSTS=hosts, DEBUG=debug)) == allowed
