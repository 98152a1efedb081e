"""Which way a load goes, and whether others would go another."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from ipaddress import ip_address

from ...base.errors import InputError
from ...base.verdict import Effect
from ...measure.engine.url import Url
from ...report.words.findings import LOAD, remedy, seen, warning
from ...validity.preflight import Destination, address

__all__ = ["check_address", "nobody_listens"]

_PATIENCE_S = 1.0


def check_address(url: Url) -> tuple[str, ...]:
    """Return what is worth telling of the way to ``url``; raises InputError where nobody
    listens at its end, but somebody at another address of the same name.

    One connection is made to each further address of the host's name, and closed at once.
    """
    if isinstance(url.address, str):
        return ()
    dialled, port = url.address
    others = tuple(host for host in _addresses(url.name, port) if host != dialled and _accepts(host, port))
    finding = address(
        Destination(
            name=url.name,
            dialled=dialled,
            answers=not others or _accepts(dialled, port),
            others=others,
            proxies=_proxies(url),
        )
    )
    if finding is None:
        return ()
    if finding.effect is Effect.INVALIDATES:
        raise InputError(f"{seen(finding, LOAD)}; {remedy(finding, LOAD)}")
    return (warning(finding, LOAD),)


def _addresses(name: str, port: int) -> tuple[str, ...]:
    """Return all addresses of a name; an address has none but itself."""
    with suppress(ValueError):
        return (str(ip_address(name)),)
    with suppress(OSError, UnicodeError):
        entries = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))
    return ()


def nobody_listens(address: tuple[str, int] | str) -> bool:
    """Tell whether connections to ``address`` are refused at once, as where no server runs."""
    try:
        with socket.socket(_family(address)) as probe:
            probe.settimeout(_PATIENCE_S)
            probe.connect(address)
    except (ConnectionRefusedError, FileNotFoundError):
        return True
    except OSError:
        return False
    return False


def _family(address: tuple[str, int] | str) -> socket.AddressFamily:
    if isinstance(address, str):
        return socket.AF_UNIX
    return socket.AF_INET6 if ip_address(address[0]).version == 6 else socket.AF_INET


def _accepts(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE_S):
            return True
    except OSError:
        return False


def _proxies(url: Url) -> dict[str, str]:
    """Return the variable that names a proxy for this URL, with its value; empty where it is bypassed."""
    wanted = "https_proxy" if url.secure else "http_proxy"
    variable = next((name for name in os.environ if name.lower() == wanted and os.environ[name]), None)
    if variable is None:
        return {}
    from urllib.request import proxy_bypass  # slow to import, and seldom needed

    # a proxy's own user name and password are nobody's business
    return {} if proxy_bypass(url.host) else {variable: os.environ[variable].rpartition("@")[2]}
