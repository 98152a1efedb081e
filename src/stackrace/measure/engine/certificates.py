"""Certificates: whom to trust, and why a server was not."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

from stackrace.base.errors import InputError
from stackrace.base.files import read_bytes
from stackrace.measure.load import Tls

__all__ = ["authorities", "why_refused"]

_PATIENCE_S = 10.0


def authorities(file: Path | None = None) -> bytes:
    """Return the certificates (PEM) in ``file``, or those this system trusts.

    The system's are where OpenSSL looks for them: SSL_CERT_FILE and SSL_CERT_DIR, then its own defaults.

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


def why_refused(address: tuple[str, int] | str, tls: Tls) -> str | None:
    """Shake hands once and return why that fails, in OpenSSL's words; None when it does not, or not for TLS."""
    context = _context(tls.authorities)
    context.minimum_version = ssl.TLSVersion.TLSv1_2 if "1.2" in tls.versions else ssl.TLSVersion.TLSv1_3
    context.maximum_version = ssl.TLSVersion.TLSv1_3 if "1.3" in tls.versions else ssl.TLSVersion.TLSv1_2
    try:
        with _connected(address) as plain, context.wrap_socket(plain, server_hostname=tls.name):
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
    """A folder holds one file per certificate, linked by its subject's hash. Source: openssl-rehash(1)."""
    paths = ssl.get_default_verify_paths()
    files = [Path(paths.cafile)] if paths.cafile else []
    if not files and paths.capath:
        files = sorted({link.resolve() for link in Path(paths.capath).glob("????????.[0-9]*")})
    return [read_bytes(file) for file in files if file.is_file()]
