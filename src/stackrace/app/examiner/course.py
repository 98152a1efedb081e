"""The steps of an examination: the environment, Django's settings, the callable, the golden answers."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import time
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .asking import Asking
from .callers import AsgiCaller, Caller, WsgiCaller, app_traceback
from .crawl import crawl
from .messages import ANSWER_S, Channel, DjangoFacts, Order, PythonFacts, Report
from .survey import is_debug, object_report, pattern_of, survey
from .writing import Watch

_MOST_ROUTES = 24
_MOST_WRAPPERS = 10


def examine(ordered: Mapping[str, Any], channel: Channel) -> Report:
    """Return the report of the examination, complete or not; a failure of the app is part of the report."""
    order, report = Order(**ordered), Report(python=_python_facts())
    try:
        _start_in(order.root)
        _examine(order, report, channel)
    except BaseException as error:  # an app may well call sys.exit() while it is imported
        report.failure = app_traceback(error)
    return report


def _start_in(root: str) -> None:
    os.chdir(root)
    sys.path[:] = [root, *(path for path in sys.path if path not in ("", root))]


def _examine(order: Order, report: Report, channel: Channel) -> None:
    stage = channel.stage
    begun_s = time.monotonic()
    watch = Watch()

    def note_loading() -> None:
        report.loading = time.monotonic() - begun_s, time.process_time()

    def begin_answer(text: str) -> None:
        stage(text)
        channel.end_in(ANSWER_S)

    report.host = order.host or _choose_host(["*"])
    added: tuple[tuple[str, str], ...] = ()
    if order.settings:
        stage("loading its settings")
        os.environ["DJANGO_SETTINGS_MODULE"] = order.settings
        _load_settings()
        stage("loading its apps and models")
        facts = report.django = _django_facts()
        report.host = order.host or _choose_host(facts.allowed_hosts)
        added = _https_headers(facts)
    stage("importing it")
    application = _application(order.source)
    report.debug = is_debug(application, bool(order.settings))
    if not order.settings and (order.requests or order.crawl):
        found = object_report(application)
        if found.interface not in (order.interface, ""):
            report.object = found
            return
    if order.survey:
        stage("listing its pages")
        report.survey = survey(application, bool(order.settings))
    stage("starting it up")
    caller: Caller = (
        AsgiCaller(application, order.most_body_bytes, order.lifespan)
        if order.interface == "asgi"
        else WsgiCaller(application, order.most_body_bytes)
    )
    report.lifespan = caller.has_lifespan
    wanted = order.crawl
    is_brief = wanted is not None or not order.lifespan
    asking = Asking(caller, report.host, added, begin_answer, order.in_doubt, briefly=is_brief)
    if wanted is not None:
        crawl(wanted, asking, application, report, channel)
    else:
        exchanges = asking.all_of(order.requests, follow=order.follow, after_first=note_loading)
        report.exchanges = tuple(exchanges)
        if report.django is not None and not order.in_doubt:
            report.django = replace(report.django, web_sockets=_routes_web_sockets())
    report.written, report.imported = tuple(map(Path, watch.files())), tuple(map(Path, _imported()))
    report.connected, report.pool = tuple(watch.addresses()), caller.pool()
    stage("shutting it down")
    channel.end_in(order.timeout_s)
    caller.close()


def _imported() -> list[str]:
    """Return the files of imported modules that do not belong to the interpreter's environment."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    environment = tuple({os.path.join(folder, "") for folder in (sys.prefix, sys.base_prefix)})  # noqa: PTH118
    return [file for file in files if isinstance(file, str) and not file.startswith(environment)]


def _application(source: str) -> Any:
    entry = types.ModuleType("stackrace_entry")
    sys.modules[entry.__name__] = entry
    exec(compile(source, "stackrace_entry.py", "exec"), entry.__dict__)
    return entry.__dict__["application"]


def _python_facts() -> PythonFacts:
    return PythonFacts(
        version=".".join(str(part) for part in sys.version_info[:3]),
        python=Path(sys.executable),
        base=Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)),
        site_packages=tuple(map(Path, _site_packages())),
        distributions=_distributions(),
    )


def _site_packages() -> list[str]:
    paths = sysconfig.get_paths()
    candidates = [paths["purelib"], paths["platlib"], *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        candidates.append(site.getusersitepackages())
    known = {os.path.realpath(path) for path in candidates}
    on_path = (path for path in sys.path if os.path.isdir(path) and os.path.realpath(path) in known)  # noqa: PTH112
    return list(dict.fromkeys(on_path))


def _distributions() -> dict[str, str]:
    """Return versions by distribution name; of a distribution found twice the first counts, as for imports."""
    versions: dict[str, str] = {}
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name:
            versions.setdefault(name, distribution.version)
    return versions


def _load_settings() -> None:
    import_module("django.conf").settings._setup()


def _django_facts() -> DjangoFacts:
    """Set Django up and return facts about the project; exceptions of the project are not caught here."""
    django: Any = import_module("django")  # the app's own, so not before its path is set
    settings: Any = import_module("django.conf").settings

    django.setup()
    root = _absolute(settings.STATIC_ROOT) if settings.STATIC_ROOT else None
    media_url, media_root = _media(settings)
    return DjangoFacts(
        allowed_hosts=tuple(_allowed_hosts(settings)),
        static_url=str(settings.STATIC_URL or ""),
        static_root=root if root and os.path.isdir(root) else None,  # noqa: PTH112
        collected=root,
        media_url=media_url,
        media_root=media_root,
        # Source: Django 3.0 release notes, "ASGI support"; Channels, "Installation", ASGI_APPLICATION
        has_asgi=django.VERSION >= (3, 0) or bool(getattr(settings, "ASGI_APPLICATION", None)),
        sends_static=any("whitenoise" in str(name).lower() for name in settings.MIDDLEWARE),
        https_header=_https_header(settings.SECURE_PROXY_SSL_HEADER),
        routes=tuple(_routes()),
    )


def _absolute(folder: Any) -> Path:
    return Path(os.path.abspath(folder))  # noqa: PTH100


def _routes_web_sockets() -> bool:
    settings: Any = import_module("django.conf").settings
    if find_spec("channels") is None:
        return False
    package = (settings.WSGI_APPLICATION or os.environ["DJANGO_SETTINGS_MODULE"]).rpartition(".")[0]
    package_name = package.rpartition(".")[0] if settings.WSGI_APPLICATION else package
    target = getattr(settings, "ASGI_APPLICATION", None) or f"{package_name}.asgi.application".lstrip(".")
    module, _, name = target.rpartition(".")
    try:
        application = getattr(import_module(module), name)
    except Exception:  # the ASGI application is not the one that is examined
        return False
    for _ in range(_MOST_WRAPPERS):
        mapping = getattr(application, "application_mapping", None)
        if isinstance(mapping, dict):
            return "websocket" in mapping
        application = getattr(application, "app", getattr(application, "application", None))
    return False


def _https_headers(facts: DjangoFacts) -> tuple[tuple[str, str], ...]:
    """Return the headers that tell an https-only project that its proxy used TLS; empty if it trusts no header."""
    settings: Any = import_module("django.conf").settings
    name = facts.https_header
    if not (settings.SECURE_SSL_REDIRECT and name):
        return ()
    headers = {name: str(settings.SECURE_PROXY_SSL_HEADER[1])}
    if name == "X-Forwarded-Ssl":
        # lighttpd would say http here, and gunicorn refuses a request whose headers contradict each other
        headers["X-Forwarded-Proto"] = "https"
    if settings.USE_X_FORWARDED_PORT:
        # otherwise Django sees the port of a server behind the proxy, and refuses forms with a Referer
        headers["X-Forwarded-Port"] = "443"
    return tuple(headers.items())


def _https_header(setting: Any) -> str:
    """Turn ``("HTTP_X_FORWARDED_PROTO", "https")`` into ``X-Forwarded-Proto``."""
    if not setting or not str(setting[0]).startswith("HTTP_"):
        return ""
    return "-".join(word.capitalize() for word in str(setting[0])[5:].split("_"))


def _allowed_hosts(settings: Any) -> list[str]:
    """Return the hosts as Django understands them: with DEBUG, an empty list means loopback.

    Entries that are None or empty, for example because a variable is not set, are left out.
    """
    if settings.DEBUG and not settings.ALLOWED_HOSTS:
        return ["localhost", "127.0.0.1", "[::1]"]
    return [str(host) for host in settings.ALLOWED_HOSTS if host]


def _media(settings: Any) -> tuple[str, Path | None]:
    """Return URL prefix and folder of uploads; ``("", None)`` without, or if a view of the project sends them."""
    url = str(settings.MEDIA_URL or "")
    if not settings.MEDIA_ROOT or not url.startswith("/") or url == "/":
        return "", None
    urls: Any = import_module("django.urls")
    try:
        view = getattr(urls.resolve(url + "a"), "func", None)
    except urls.Resolver404:
        view = None
    except Exception:  # a broken URLconf shows itself, with its traceback, in the answers
        return "", None
    # Django's own view for development sends every file of the folder to anybody
    if view is not None and getattr(view, "__module__", "") != "django.views.static":
        return "", None
    return url, _absolute(settings.MEDIA_ROOT)


def _routes() -> list[str]:
    """Return the URLconf's first level as paths, with the routes of includes without a prefix; [] if it fails."""
    urls: Any = import_module("django.urls")
    try:
        return list(dict.fromkeys(_route_paths(urls.get_resolver().url_patterns)))[:_MOST_ROUTES]
    except Exception:  # a broken URLconf shows itself, with its traceback, in the answers
        return []


def _route_paths(patterns: Any) -> list[str]:
    paths: list[str] = []
    for entry in patterns:
        text = pattern_of(entry)
        if not text.strip("^$") and hasattr(entry, "url_patterns"):
            paths += _route_paths(entry.url_patterns)
        else:
            paths.append("/" + text.lstrip("^/").rstrip("$"))
    return paths


_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def _choose_host(allowed: Sequence[str]) -> str:
    """Return a host that Django's ALLOWED_HOSTS accepts, a loopback host if possible.

    >>> choose_host(["*"]), choose_host([".example.com"]), choose_host(["shop.example.com", "localhost"])
    ('127.0.0.1', 'example.com', 'localhost')
    """
    if not allowed or "*" in allowed:
        return _LOOPBACK[0]
    for host in _LOOPBACK:
        if host in allowed:
            return host
    return allowed[0].lstrip(".").lower()
