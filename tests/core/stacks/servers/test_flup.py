"""flup's launcher, without flup."""

from __future__ import annotations

import pytest

from stackrace.stacks.servers.flup.launcher import _at_the_root, _bind_address, _Prefork


def test_an_address_with_a_port_is_tcp_and_any_other_a_unix_socket():
    assert _bind_address("127.0.0.1:9000") == ("127.0.0.1", 9000)
    assert _bind_address("/srv/next/socket") == "/srv/next/socket"


def test_the_app_sees_the_decoded_path_of_the_request_line():
    environ = {"REQUEST_URI": "/caf%C3%A9/?page=3", "SCRIPT_NAME": "/caf", "PATH_INFO": "/caf%C3%A9/"}
    mounted = _at_the_root(lambda environ, start_response: [environ["PATH_INFO"].encode("latin-1")])
    assert mounted(environ, None) == ["/café/".encode()]
    assert environ["SCRIPT_NAME"] == ""


def test_a_signal_breaks_the_prefork_server_out_of_its_wait():
    server = _Prefork()
    with pytest.raises(InterruptedError):
        server._intHandler(15, None)
    assert server._keepGoing is False


def test_a_path_that_the_web_server_decoded_is_not_decoded_again():
    environ = {"REQUEST_URI": "/100%25", "PATH_INFO": "/100%25", "SERVER_SOFTWARE": "Cherokee/1.2.104 (UNIX)"}
    mounted = _at_the_root(lambda environ, start_response: [environ["PATH_INFO"].encode("latin-1")])
    assert mounted(environ, None) == [b"/100%25"]
