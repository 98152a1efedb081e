"""URLs to load, and whom to trust there."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from tests.tls import Certificate, make_certificate, secure_server

from stackrace.base.errors import InputError
from stackrace.measure.engine.url import authorities, parse, why_refused
from stackrace.measure.load import Tls


@pytest.mark.parametrize(
    ("text", "address", "host", "path"),
    [
        ("http://127.0.0.1:8000/p?x=1&y=a%20b#top", ("127.0.0.1", 8000), "127.0.0.1:8000", "/p?x=1&y=a%20b"),
        # what is left out has its usual meaning
        ("http://127.0.0.1", ("127.0.0.1", 80), "127.0.0.1", "/"),
        ("http://[::1]:81/a", ("::1", 81), "[::1]:81", "/a"),
        ("http://127.0.0.1:5?q", ("127.0.0.1", 5), "127.0.0.1:5", "/?q"),
        ("http://127.0.0.1:5/é?", ("127.0.0.1", 5), "127.0.0.1:5", "/%C3%A9"),
        ("http://127.0.0.1:5/a?b ?", ("127.0.0.1", 5), "127.0.0.1:5", "/a?b%20?"),
        ("http://127.0.0.1/ü b", ("127.0.0.1", 80), "127.0.0.1", "/%C3%BC%20b"),
        # localhost is dialled over IPv4 and keeps its name
        ("http://localhost:8000/", ("127.0.0.1", 8000), "localhost:8000", "/"),
    ],
)
def test_a_url_is_taken_apart(text: str, address: tuple[str, int], host: str, path: str) -> None:
    url = parse(text)
    assert (url.address, url.host, url.path) == (address, host, path)


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("", "write it like"),
        ("127.0.0.1:8000", r"did you mean http://127\.0\.0\.1:8000/\?"),
        ("localhost/a?b", r"did you mean http://localhost/a\?b\?"),
        ("ftp://127.0.0.1/", "write it like"),
        ("http:///path", "has no host"),
        ("http://[::1/", "write it like"),
        ("http://127.0.0.1:x/", "1 to 65535"),
        ("http://127.0.0.1:0/", "1 to 65535"),
        ("http://127.0.0.1:70000/", "1 to 65535"),
        ("http://me:secret@127.0.0.1/", "Authorization"),
        ("http://[fe80::1%25lo]/", "IPv6 zone"),
        ("http://192.0.2.1/", "--target-is-mine"),
    ],
)
def test_what_cannot_be_loaded_is_refused_with_the_way_out(text: str, way_out: str) -> None:
    with pytest.raises(InputError, match=way_out):
        parse(text)


def test_another_machine_may_be_loaded_by_its_owner() -> None:
    assert parse("http://192.0.2.1/", target_is_mine=True).address == ("192.0.2.1", 80)


def test_https_has_its_own_port_and_keeps_the_name_for_the_certificate() -> None:
    url = parse("https://localhost/a")
    assert (url.address, url.host, url.name, url.secure) == (("127.0.0.1", 443), "localhost", "localhost", True)
    assert parse("https://[::1]:8443/").name == "::1"


def test_every_address_of_this_machine_is_this_machine() -> None:
    assert parse("http://127.1.2.3/").is_local
    assert parse("http://0.0.0.0:8000/").is_local
    assert not parse("http://192.0.2.1/", target_is_mine=True).is_local


def test_a_unix_socket_is_the_address_whatever_the_url_names() -> None:
    url = parse("http://shop.example/cart?x=1", unix_socket="/run/shop.sock")
    assert (url.address, url.host, url.path, url.is_local) == ("/run/shop.sock", "shop.example", "/cart?x=1", True)


@pytest.mark.parametrize("path", ["", "/" + "x" * 107, "/" + "ä" * 54])
def test_a_path_that_no_socket_can_have_is_refused_by_its_flag(path: str) -> None:
    with pytest.raises(InputError, match=r"--unix-socket .* bytes, but a socket's path has 1 to 107"):
        parse("http://shop.example/", unix_socket=path)
    assert parse("http://shop.example/", unix_socket="/" + "x" * 106).is_local


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
