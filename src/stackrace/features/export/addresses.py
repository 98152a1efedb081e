"""The addresses that the command line gives: where the front listens, and which proxies it trusts."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from ...base.errors import InputError

__all__ = ["known_proxies", "listened_at"]


def listened_at(text: str) -> tuple[str, int]:
    """Return the IPv4 address and the port of ``--listen``; raises InputError for anything else.

    Names are refused: one such as localhost may be several addresses, and not every server listens at all of them.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal() or not 0 < int(port) < 65536:
        raise InputError(f"--listen {text!r} must be ADDRESS:PORT, such as 0.0.0.0:8000 or 127.0.0.1:8000")
    if ":" in host:
        raise InputError(
            f"--listen {text!r} is an IPv6 address, and exported files listen on IPv4 only: give 0.0.0.0:{port}, "
            "and let the TLS proxy in front listen on IPv6"
        )
    try:
        return str(ipaddress.IPv4Address(host)), int(port)
    except ValueError:
        example = "127.0.0.1" if host == "localhost" else "0.0.0.0"
        raise InputError(f"--listen {text!r} must name an IPv4 address, such as {example}:{port}") from None


def known_proxies(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses and networks of ``--trusted-proxy``; raises InputError for what is none."""
    return tuple(dict.fromkeys(map(_proxy, texts)))


def _proxy(text: str) -> str:
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        raise InputError(
            f"--trusted-proxy {text!r} must be an IP address or a network, such as 10.0.0.7 or 10.0.0.0/24"
        ) from None
    if network.prefixlen == 0:
        raise InputError(
            f"--trusted-proxy {text} is everybody, and then any client could say where it comes from; give the "
            "proxy's address"
        )
    return str(network.network_address if network.num_addresses == 1 else network)
