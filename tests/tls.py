"""A certificate of our own and a server that shows it, for every test that needs TLS."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.http_servers import Server, serving


@dataclass(frozen=True)
class Certificate:
    """Self-signed, for localhost and 127.0.0.1."""

    file: Path
    key: Path


def make_certificate(folder: Path) -> Certificate:
    """Make one with openssl(1); skips the test where that is missing."""
    made = Certificate(file=folder / "localhost.pem", key=folder / "localhost.key")
    _openssl(
        "req", "-x509", *_NEW_KEY, "-days", "30", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", made.key, "-out", made.file,
    )  # fmt: skip
    return made


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def _openssl(*words: object) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    subprocess.run([openssl, *map(str, words)], check=True, capture_output=True)


def make_authority(folder: Path) -> Certificate:
    """Make an authority that signs certificates for ``issue``; skips the test where openssl(1) is missing."""
    made = Certificate(file=folder / "ca.pem", key=folder / "ca.key")
    _openssl(
        "req", "-x509", *_NEW_KEY, "-days", "30", "-subj", "/CN=authority", "-keyout", made.key, "-out", made.file
    )
    return made


def issue(authority: Certificate, name: str) -> Certificate:
    """Return a certificate for ``name`` that ``authority`` signed, beside it."""
    folder = authority.file.parent
    made, request = Certificate(file=folder / f"{name}.pem", key=folder / f"{name}.key"), folder / f"{name}.csr"
    _openssl("req", *_NEW_KEY, "-subj", f"/CN={name}", "-keyout", made.key, "-out", request)
    signed = ("-CA", authority.file, "-CAkey", authority.key, "-CAcreateserial")
    _openssl("x509", "-req", "-in", request, *signed, "-days", "30", "-out", made.file)
    return made


class _Server(Server):
    """Shakes hands in each connection's own thread, and takes it with patience when a client breaks off."""

    context: ssl.SSLContext

    def finish_request(self, request, client_address) -> None:
        with suppress(OSError), self.context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request, client_address) -> None:
        pass


@contextmanager
def secure_server(certificate: Certificate, *, most: ssl.TLSVersion | None = None) -> Iterator[tuple[str, int]]:
    """Run an https server on loopback and yield its address; ``most`` is the highest version it speaks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.file, certificate.key)
    if most is not None:
        context.maximum_version = most
    server = _Server()
    server.context = context
    with serving(server):
        yield server.socket.getsockname()
