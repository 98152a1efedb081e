"""Targets of a load from its options: server, requests and right answers."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

from ...base.errors import InputError
from ...base.files import read_bytes
from ...base.http_syntax import client_used_tls, header_fault
from ...base.verdict import Effect
from ...measure.engine.load_run import Target
from ...measure.engine.url import Url, authorities, parse
from ...measure.load import Tls
from ...measure.workload import MOST_BODY_BYTES, Answer, Order, Request, Sameness, Workload, fixed_parts
from ...report.words.findings import LOAD, remedy, seen, warning
from ...validity.preflight import Destination, address
from .options import LoadOptions

_PATIENCE_S = 1.0


def _check_address(url: Url) -> tuple[str, ...]:
    """Return warnings about the way to ``url``; raise InputError if only another address of its host accepts.

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
    with suppress(ValueError):
        return (str(ip_address(name)),)
    with suppress(OSError, UnicodeError):
        entries = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))
    return ()


def nobody_listens(address: tuple[str, int] | str) -> bool:
    """Return True if connections to ``address`` are refused at once, as if no server runs."""
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
    """Return the variable that names a proxy for this URL, with its value; empty if the proxy is bypassed."""
    wanted = "https_proxy" if url.secure else "http_proxy"
    variable = next((name for name in os.environ if name.lower() == wanted and os.environ[name]), None)
    if variable is None:
        return {}
    from urllib.request import proxy_bypass  # slow to import, and seldom needed

    # a proxy's user name and password are not shown
    return {} if proxy_bypass(url.host) else {variable: os.environ[variable].rpartition("@")[2]}


_FORM = ("Content-Type", "application/x-www-form-urlencoded")


def target_of(options: LoadOptions) -> Target:
    """Return the target of a load; raise InputError for a wrong URL, another machine, or two servers."""
    return _from_session(options) if options.session is not None else _requested(options)


def _requested(options: LoadOptions) -> Target:
    urls = _urls(options, options.urls)
    answer = _expected_answer(options)
    workload = Workload(
        requests=tuple(_request(options, url.path) for url in urls),
        answers=(answer,) * len(urls) if answer else (),
        host=options.host or urls[0].host,
        order=Order.SESSION if options.cookies else Order.TURN,
        cookies=options.cookies,
        nonce=options.nonce,
    )
    return _target(options, urls[0], workload, options.urls)


def _from_session(options: LoadOptions) -> Target:
    from ...measure.recording import read_recording

    assert options.session is not None
    pause = "recorded" if options.think is None else options.think
    recording = read_recording(options.session, think=pause == "recorded", cookies=options.cookies)
    texts = options.urls or ((recording.origin,) if recording.origin else ())
    if not texts:
        raise InputError(f"--session {options.session} does not name its server; give its URL")
    (url,) = _urls(options, texts)
    headers = headers_of(options)
    workload = recording.at(f"https://{url.host}" if client_used_tls(headers) else url.origin)
    if headers or isinstance(pause, float):
        workload = replace(
            workload, requests=tuple(_changed(request, headers, pause) for request in workload.requests)
        )
    workload = replace(workload, host=options.host or workload.host, nonce=options.nonce)
    left_out = "; ".join(f"{number} × {why}" for why, number in recording.skipped.items())
    notes = (f"--session {options.session} is played but for {left_out}",) if left_out else ()
    return _target(options, url, workload, texts, notes)


def _changed(request: Request, headers: tuple[tuple[str, str], ...], pause: float | str) -> Request:
    """Return ``request`` with ``headers`` in place of recorded ones of the same names, and with a given pause."""
    changed = request.replacing(headers)
    if isinstance(pause, float) and not request.embedded:
        return replace(changed, think_s=pause)
    return changed


def _target(
    options: LoadOptions,
    url: Url,
    workload: Workload,
    texts: tuple[str, ...],
    notes: tuple[str, ...] = (),
) -> Target:
    return Target(
        urls=texts,
        address=url.address,
        workload=workload,
        tls=_tls(options, url),
        is_local=url.is_local,
        notes=(*notes, *_check_address(url)),
    )


def _urls(options: LoadOptions, texts: tuple[str, ...]) -> list[Url]:
    urls = [parse(text, target_is_mine=options.target_is_mine, unix_socket=options.unix_socket) for text in texts]
    if len({(url.address, url.secure) for url in urls}) > 1:
        raise InputError("the URLs lead to different servers; load one server at a time")
    if urls[0].secure and len({url.name for url in urls}) > 1:
        raise InputError("the https URLs name different hosts, so different certificates; load one host at a time")
    if options.host is None and len({url.host for url in urls}) > 1:
        raise InputError("the URLs name their server differently; choose the Host header with --host")
    return urls


def _tls(options: LoadOptions, url: Url) -> Tls | None:
    if not url.secure:
        for name in ("insecure", "cacert", "tls"):
            if options.is_given(name):
                raise InputError(f"--{name} is for https only; load an https URL, or leave it out")
        return None
    return Tls(
        name=url.name,
        authorities=None if options.insecure else authorities(options.cacert),
        versions=(options.tls,) if options.tls else ("1.2", "1.3"),
    )


def _request(options: LoadOptions, path: str) -> Request:
    body = _body(options.data)
    headers = headers_of(options)
    if body is not None and not any(name.lower() == "content-type" for name, _ in headers):
        headers = (*headers, _FORM)
    return Request(
        path=path,
        method=(options.method or ("GET" if body is None else "POST")).upper(),
        headers=headers,
        body=body or b"",
        chunk_bytes=None if options.chunked is None else max(int(options.chunked), 1),
        expects_continue=options.expect_continue,
    )


def headers_of(options: LoadOptions) -> tuple[tuple[str, str], ...]:
    """Return the headers that were given; raise InputError for text that is no header."""
    pairs = []
    for text in options.headers:
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise InputError(f"--header {text!r} is not a header; write it like 'Accept: text/html'")
        if name.strip().lower() == "host":
            raise InputError(f"--header {text!r}: give the Host header as --host")
        if fault := header_fault(name.strip(), value.strip()):
            raise InputError(f"--header {text[:80]!r}: {fault}")
        pairs.append((name.strip(), value.strip()))
    return tuple(pairs)


def _body(data: str | None) -> bytes | None:
    if data is None:
        return None
    return (
        _read_option_file(Path(data[1:]), "--data")
        if data.startswith("@")
        else data.encode("utf-8", "surrogateescape")
    )


def _expected_answer(options: LoadOptions) -> Answer | None:
    if options.expect_status is None and options.expect_body is None and options.expect_text is None:
        return None
    if options.expect_text is not None:
        text = options.expect_text.encode("utf-8", "surrogateescape")
        return Answer(
            status=options.expect_status,
            body=b"",
            content_type="",
            sameness=Sameness.PARTS,
            parts=(b"", text, b""),
        )
    body = b"" if options.expect_body is None else _read_option_file(options.expect_body, "--expect-body")
    sameness = Sameness.STATUS if options.expect_body is None else Sameness.BODY
    parts: tuple[bytes, ...] = ()
    if options.masks:
        sameness, parts = Sameness.PARTS, fixed_parts(body, options.masks)
    return Answer(status=options.expect_status, body=body, content_type="", sameness=sameness, parts=parts)


def _read_option_file(path: Path, flag: str) -> bytes:
    try:
        return read_bytes(path, MOST_BODY_BYTES)
    except OSError as error:
        raise InputError(f"{flag}: {path} cannot be read: {error.strerror}") from error
