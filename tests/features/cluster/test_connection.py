"""Addresses that lead to no scheduler: told apart before, or after, anybody is asked."""

import socket

import pytest

from stackrace.base.errors import InputError
from stackrace.features.cluster import connection


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "address", ["", "nonsense", "10.0.0.1:8786", "http://a:1", "tcp://a", "tcp://a:b", "tcp://:1"]
)
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(InputError, match="no scheduler's address"):
        connection.Connection(address)


def test_where_nobody_answers_the_way_out_is_named(monkeypatch):
    monkeypatch.setattr(connection, "CONNECT_S", 0.5)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(InputError, match=r"no Dask scheduler answers there .*; start one with"):
            connection.Connection(f"tcp://127.0.0.1:{bound.getsockname()[1]}")


def test_workers_without_a_name_are_called_by_their_host_where_that_is_enough():
    workers = {
        "tcp://10.0.0.1:40001": {"name": "tcp://10.0.0.1:40001"},
        "tcp://10.0.0.2:40001": {"name": "tcp://10.0.0.2:40001"},
        "tcp://10.0.0.2:40002": {"name": "tcp://10.0.0.2:40002"},
        "tcp://10.0.0.3:40001": {"name": "host-3"},
    }
    assert list(connection._names(workers).values()) == [
        "10.0.0.1", "tcp://10.0.0.2:40001", "tcp://10.0.0.2:40002", "host-3",
    ]  # fmt: skip
