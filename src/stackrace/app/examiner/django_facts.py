"""What Django's settings say that matters to a race."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .messages import DjangoReport

_MOST_ROUTES = 24
_MOST_WRAPPERS = 10


def load_settings() -> None:
    """Import the settings module; whatever it raises is the caller's to catch."""
    import_module("django.conf").settings._setup()


def django_facts() -> DjangoReport:
    """Set Django up and return the facts; whatever the project raises is the caller's to catch."""
    django: Any = import_module("django")  # the app's own, so not before its path is set
    settings: Any = import_module("django.conf").settings

    django.setup()
    root = os.path.abspath(settings.STATIC_ROOT) if settings.STATIC_ROOT else ""  # noqa: PTH100
    media_url, media_root = _media(settings)
    return {
        "debug": bool(settings.DEBUG),
        "allowed_hosts": _allowed_hosts(settings),
        "static_url": str(settings.STATIC_URL or ""),
        "static_root": root if os.path.isdir(root) else "",  # noqa: PTH112
        "collected": root,
        "media_url": media_url,
        "media_root": media_root,
        "sends_static": any("whitenoise" in str(name).lower() for name in settings.MIDDLEWARE),
        "https_header": _https_header(settings.SECURE_PROXY_SSL_HEADER),
        "routes": _routes(),
        "web_sockets": False,
    }


def routes_web_sockets() -> bool:
    """Tell whether the project's ASGI application has Channels route WebSockets; False where it does not load."""
    settings: Any = import_module("django.conf").settings
    if find_spec("channels") is None:
        return False
    package = (settings.WSGI_APPLICATION or os.environ["DJANGO_SETTINGS_MODULE"]).rpartition(".")[0]
    beside = package.rpartition(".")[0] if settings.WSGI_APPLICATION else package
    target = getattr(settings, "ASGI_APPLICATION", None) or f"{beside}.asgi.application".lstrip(".")
    module, _, name = target.rpartition(".")
    try:
        application = getattr(import_module(module), name)
    except Exception:  # nobody asked for it
        return False
    for _ in range(_MOST_WRAPPERS):
        mapping = getattr(application, "application_mapping", None)
        if isinstance(mapping, dict):
            return "websocket" in mapping
        application = getattr(application, "app", getattr(application, "application", None))
    return False


def https_headers(facts: DjangoReport) -> tuple[tuple[str, str], ...]:
    """Return the headers by which an https-only project learns that its proxy spoke TLS, if it knows one."""
    settings: Any = import_module("django.conf").settings
    name = facts["https_header"]
    if not (settings.SECURE_SSL_REDIRECT and name):
        return ()
    headers = {name: str(settings.SECURE_PROXY_SSL_HEADER[1])}
    if name == "X-Forwarded-Ssl":
        # lighttpd would say http here, and gunicorn refuses a request whose headers contradict each other
        headers["X-Forwarded-Proto"] = "https"
    if settings.USE_X_FORWARDED_PORT:
        # else the port is that of a server behind the proxy, and forms with a Referer are refused
        headers["X-Forwarded-Port"] = "443"
    return tuple(headers.items())


def _https_header(setting: Any) -> str:
    """Turn ``("HTTP_X_FORWARDED_PROTO", "https")`` into ``X-Forwarded-Proto``."""
    if not setting or not str(setting[0]).startswith("HTTP_"):
        return ""
    return "-".join(word.capitalize() for word in str(setting[0])[5:].split("_"))


def _allowed_hosts(settings: Any) -> list[str]:
    """Return the hosts as Django understands them: no host under DEBUG means loopback.

    What a variable that is not set leaves there, None or nothing, fits no host.
    """
    if settings.DEBUG and not settings.ALLOWED_HOSTS:
        return ["localhost", "127.0.0.1", "[::1]"]
    return [str(host) for host in settings.ALLOWED_HOSTS if host]


def _media(settings: Any) -> tuple[str, str]:
    """Return where uploads are asked for, and their folder; nothing where a view of the project sends them."""
    url = str(settings.MEDIA_URL or "")
    if not settings.MEDIA_ROOT or not url.startswith("/") or url == "/":
        return "", ""
    urls: Any = import_module("django.urls")
    try:
        view = getattr(urls.resolve(url + "a"), "func", None)
    except urls.Resolver404:
        view = None
    except Exception:  # a broken URLconf shows itself, with its traceback, in the answers
        return "", ""
    # Django's own view for development sends whatever lies there, to anybody
    if view is not None and getattr(view, "__module__", "") != "django.views.static":
        return "", ""
    return url, os.path.abspath(settings.MEDIA_ROOT)  # noqa: PTH100


def _routes() -> list[str]:
    """Return the URLconf's first level as paths, includes without a prefix opened; [] if it does not load."""
    urls: Any = import_module("django.urls")
    try:
        return list(dict.fromkeys(_level(urls.get_resolver().url_patterns)))[:_MOST_ROUTES]
    except Exception:  # a broken URLconf shows itself, with its traceback, in the answers
        return []


def _level(patterns: Any) -> list[str]:
    paths: list[str] = []
    for entry in patterns:
        text = str(entry.pattern)
        if not text.strip("^$") and hasattr(entry, "url_patterns"):
            paths += _level(entry.url_patterns)
        else:
            paths.append("/" + text.lstrip("^/").rstrip("$"))
    return paths


_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def choose_host(allowed: Sequence[str]) -> str:
    """Return a host that Django's ALLOWED_HOSTS lets pass; loopback where it may be.

    >>> choose_host(["*"]), choose_host([".example.com"]), choose_host(["shop.example.com", "localhost"])
    ('127.0.0.1', 'example.com', 'localhost')
    """
    if not allowed or "*" in allowed:
        return _LOOPBACK[0]
    for host in _LOOPBACK:
        if host in allowed:
            return host
    return allowed[0].lstrip(".").lower()
