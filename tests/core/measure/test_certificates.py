"""Whom to trust, and what a handshake that fails says."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from tests.tls import Certificate, make_certificate, secure_server

from stackrace.base.errors import InputError
from stackrace.measure.engine.certificates import authorities, why_refused
from stackrace.measure.load import Tls


def test_a_file_of_certificates_is_taken_as_it_is(certificate: Certificate) -> None:
    assert authorities(certificate.file) == certificate.file.read_bytes()


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * 20, b"-----BEGIN CERTIFICATE-----\nAA==\n"])
def test_a_file_without_certificates_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ca.pem").write_bytes(content)
    with pytest.raises(InputError, match=r"--cacert .*ca\.pem holds no valid certificate"):
        authorities(tmp_path / "ca.pem")
    with pytest.raises(InputError, match="cannot be read"):
        authorities(tmp_path / "absent.pem")


def test_the_system_says_whom_it_trusts(certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    assert authorities() == certificate.file.read_bytes()


def test_a_folder_of_certificates_counts_each_once(
    certificate: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.pem").write_bytes(certificate.file.read_bytes())
    (tmp_path / "0123abcd.0").symlink_to("mine.pem")
    (tmp_path / "89abcdef.0").symlink_to("mine.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert authorities() == certificate.file.read_bytes()


def test_a_system_that_trusts_nobody_names_the_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    with pytest.raises(InputError, match=r"--cacert FILE.*--insecure"):
        authorities()


def test_a_handshake_tells_why_it_fails(certificate: Certificate, tmp_path: Path) -> None:
    ours, other = certificate.file.read_bytes(), make_certificate(tmp_path)
    with secure_server(certificate) as address:
        assert why_refused(address, Tls(name="localhost", authorities=ours)) is None
        assert why_refused(address, Tls(name="localhost", authorities=None)) is None
        assert "self" in (why_refused(address, Tls(name="localhost", authorities=other.file.read_bytes())) or "")
        assert "ismatch" in (why_refused(address, Tls(name="example.org", authorities=ours)) or "")
    with secure_server(certificate, most=ssl.TLSVersion.TLSv1_2) as address:
        only = Tls(name="localhost", authorities=ours, versions=("1.3",))
        assert "version" in (why_refused(address, only) or "")


def test_a_server_that_is_not_there_is_no_matter_of_tls(certificate: Certificate, tmp_path: Path) -> None:
    assert why_refused(str(tmp_path / "absent.sock"), Tls(name="localhost", authorities=None)) is None
