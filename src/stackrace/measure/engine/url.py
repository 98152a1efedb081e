"""URLs to load and their parts: address, Host header, request target, and trusted certificates."""

from __future__ import annotations

import os
import re
import socket
import ssl
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, quote, quote_plus, urlsplit

from stackrace.base.errors import InputError, said_by
from stackrace.base.files import read_bytes
from stackrace.base.text import url_meant
from stackrace.measure.load import Tls

_URL = re.compile(rb"(https?)://([^/?#\\]*)(.*)", re.IGNORECASE | re.DOTALL)
_SERVER = re.compile(rb"(\[([^\]]*)\]|[A-Za-z0-9\-._~]+)(?::(\d*))?")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(rb"/[A-Za-z0-9/%:@!$&'()*+,;=?._~\-]*")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]+")


class _Address(NamedTuple):
    origin: str
    """Scheme, host and port in lower case, without a default port. Source: RFC 6454 section 4."""
    path: str
    """Path and query."""


def split_url(url: bytes) -> _Address | None:
    """Return the parts of an absolute http or https URL without user name and fragment; None for anything else."""
    match = _URL.fullmatch(url)
    if match is None or not _is_utf_8(match[2]):
        return None
    scheme = match[1].decode().lower()
    server = _SERVER.fullmatch(match[2].rpartition(b"@")[2])
    if server is None or (server[2] is not None and not _is_ip_6(server[2].decode())):
        return None
    port = int(server[3][-6:]) if server[3] else _DEFAULT_PORTS[scheme]
    if port > 65535:
        return None
    shown = "" if port == _DEFAULT_PORTS[scheme] else f":{port}"
    return _Address(f"{scheme}://{server[1].decode().lower()}{shown}", origin_form(match[3]))


def origin_form(target: bytes) -> str:
    """Return path and query for a request line: with a slash in front, without fragment, percent-encoded.

    Escapes already there are kept. Source: RFC 9112 section 3.2.1; RFC 3986 sections 3.3 and 3.4.
    """
    if _PLAIN.fullmatch(target):
        return target.decode()
    path = quote(target.partition(b"#")[0], safe="/%:@!$&'()*+,;=?")
    return path if path.startswith("/") else f"/{path}"


def form_encoded(part: str | bytes) -> str:
    """Return a name or a value as forms encode it. Source: URL Standard, section 5.2."""
    return quote_plus(part, safe="*").replace("~", "%7E")


def is_token(text: str) -> bool:
    """Return True if ``text`` is a token, as methods and header names are. Source: RFC 9110 section 5.6.2."""
    return _TOKEN.fullmatch(text) is not None


def is_address(text: bytes) -> bool:
    """Return True if ``text`` is an IP address."""
    try:
        ip_address(text.decode())
    except ValueError:
        return False
    return True


def _is_ip_6(text: str) -> bool:
    try:
        return IPv6Address(text).scope_id is None
    except ValueError:
        return False


def _is_utf_8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


_EXAMPLE = "http://127.0.0.1:8000/path"
_LONGEST_SOCKET = 107
"""Longest path of a Unix socket in bytes; Linux ends paths with a NUL in 108. Source: unix(7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """Parts of a URL that a request needs."""

    address: tuple[str, int] | str
    """An IP address and a port, or the path of a Unix socket."""
    host: str
    """The Host header: the host, with its port where the URL has one."""
    name: str
    """Host alone, as in a certificate."""
    path: str
    """Path and query, as in the request line."""
    secure: bool = False
    """True for an https URL."""

    @property
    def origin(self) -> str:
        """Scheme, host and port, as in Origin headers."""
        return f"{'https' if self.secure else 'http'}://{self.host}"

    @property
    def is_local(self) -> bool:
        """True if the address belongs to this machine."""
        return isinstance(self.address, str) or _is_ours(self.address[0])


def parse(text: str, *, target_is_mine: bool = False, unix_socket: str | None = None) -> Url:
    """Return the parts of ``text``, its host resolved to an IP address.

    If ``unix_socket`` is given, it is the address, and the URL's host stays a name.

    InputError: the text is no http or https URL; its host is unknown, or another machine without
    ``target_is_mine``; or no socket can have the path ``unix_socket``.
    """
    _refuse_impossible(unix_socket)
    parts = _split(text)
    name, port = _host(parts, text), _port(parts, text)
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    url = Url(
        address=unix_socket if unix_socket is not None else (_resolve(name, port, text), port),
        host=parts.netloc.rpartition("@")[2],
        name=name,
        path=origin_form(target.encode()),
        secure=parts.scheme == "https",
    )
    if not target_is_mine and not url.is_local:
        raise InputError(
            f"{name} is another machine; load only what is yours. If it is yours, add --target-is-mine"
        )
    return url


def _refuse_impossible(unix_socket: str | None) -> None:
    length = 1 if unix_socket is None else len(os.fsencode(unix_socket))
    if not 0 < length <= _LONGEST_SOCKET:
        raise InputError(
            f"--unix-socket {unix_socket!r} has {length} bytes, but a socket's path has 1 to {_LONGEST_SOCKET}; "
            "change to its folder and give a relative one, or link to it from a shorter one"
        )


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not a URL ({error}); write it like {_EXAMPLE}") from error
    if parts.scheme not in _DEFAULT_PORTS:
        way_out = f"did you mean {meant}?" if (meant := url_meant(text)) else f"write it like {_EXAMPLE}"
        raise InputError(f"{text!r} is not an http or https URL; {way_out}")
    if "@" in parts.netloc:
        raise InputError(f"{text!r} contains a user name; send an Authorization header instead")
    return parts


def _host(parts: SplitResult, text: str) -> str:
    if not parts.hostname or not parts.netloc.isascii():
        raise InputError(f"{text!r} has no host; write it like {_EXAMPLE}")
    if "%" in parts.hostname:
        raise InputError(f"{text!r} contains an IPv6 zone, which a Host header may not; use a global address")
    return parts.hostname


def _port(parts: SplitResult, text: str) -> int:
    try:
        port = parts.port
    except ValueError as error:
        raise InputError(f"{text!r} has no valid port; ports are 1 to 65535") from error
    if port == 0:
        raise InputError(f"{text!r} has no valid port; ports are 1 to 65535")
    return port or _DEFAULT_PORTS[parts.scheme]


def _resolve(host: str, port: int, text: str) -> str:
    """Return the host's address, IPv4 first: servers that listen on localhost mostly do so on 127.0.0.1 only."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"the host of {text!r} is unknown ({said_by(error)}); correct its name, or write it like {_EXAMPLE}"
        ) from error
    *_, address = min(addresses, key=lambda entry: entry[0] != socket.AF_INET)
    return str(address[0])


def _is_ours(address: str) -> bool:
    """Return True if ``address`` belongs to this machine: only such an address can be bound to."""
    family = socket.AF_INET if ip_address(address).version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


_PATIENCE_S = 10.0


def authorities(file: Path | None = None) -> bytes:
    """Return the certificates (PEM) in ``file``, or the certificates that this system trusts.

    The system's certificates are where OpenSSL searches: SSL_CERT_FILE and SSL_CERT_DIR, then its own defaults.

    InputError: the file cannot be read or holds no certificate, or the system has none.
    """
    if file is not None:
        try:
            named = read_bytes(file)
        except OSError as error:
            raise InputError(f"--cacert {file} cannot be read: {error.strerror}") from error
        return _checked(named, f"--cacert {file} holds no valid certificate in PEM format")
    installed = b"\n".join(_system())
    if not installed:
        raise InputError(
            "no certificate authorities are installed here; name them with --cacert FILE, "
            "or accept any certificate with --insecure"
        )
    return installed


def context_of(tls: Tls) -> ssl.SSLContext:
    """Return the TLS settings as a context of Python's ``ssl`` module."""
    context = _context(tls.authorities)
    context.minimum_version = ssl.TLSVersion.TLSv1_2 if "1.2" in tls.versions else ssl.TLSVersion.TLSv1_3
    context.maximum_version = ssl.TLSVersion.TLSv1_3 if "1.3" in tls.versions else ssl.TLSVersion.TLSv1_2
    return context


def why_refused(address: tuple[str, int] | str, tls: Tls) -> str | None:
    """Shake hands once and return OpenSSL's reason for the failure; None if it succeeds or fails outside TLS."""
    try:
        with _connected(address) as plain, context_of(tls).wrap_socket(plain, server_hostname=tls.name):
            return None
    except ssl.SSLCertVerificationError as error:
        return error.verify_message
    except ssl.SSLError as error:
        return (error.reason or str(error)).replace("_", " ").lower()
    except OSError:
        return None


def _connected(address: tuple[str, int] | str) -> socket.socket:
    if isinstance(address, tuple):
        return socket.create_connection(address, timeout=_PATIENCE_S)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_PATIENCE_S)
    try:
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection


def _checked(certificates: bytes, complaint: str) -> bytes:
    try:
        _context(certificates)
    except (ssl.SSLError, ValueError) as error:
        raise InputError(complaint) from error
    return certificates


def _context(authorities: bytes | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if authorities is None:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    else:
        # bundles name their issuers between the certificates, in any language
        context.load_verify_locations(cadata=authorities.decode("ascii", "ignore"))
    return context


def _system() -> list[bytes]:
    """Return the certificates that this system trusts.

    A folder holds one file per certificate, linked by its subject's hash. Source: openssl-rehash(1).
    """
    paths = ssl.get_default_verify_paths()
    files = [Path(paths.cafile)] if paths.cafile else []
    if not files and paths.capath:
        files = sorted({link.resolve() for link in Path(paths.capath).glob("????????.[0-9]*")})
    return [read_bytes(file) for file in files if file.is_file()]
