"""Which requests of a log belong to a page: style sheets, scripts, images and fonts its client asked for next."""

from __future__ import annotations

from functools import lru_cache

from ....measure.engine.url import split_url

_STATIC = frozenset({
    "avif", "css", "gif", "ico", "jpeg", "jpg", "js", "map", "mjs", "png", "svg", "ttf", "webp", "woff", "woff2",
})  # fmt: skip


class Pages:
    """The path of the page that each client saw last."""

    def __init__(self) -> None:
        self._last: dict[bytes, str] = {}

    def embed(self, client: bytes, path: str, referer: bytes | None) -> bool:
        """Tell whether a request for ``path`` is part of its client's last page, or note the next page.

        Where the log tells what page it was asked for from, that must be the one. What a style sheet asks for names
        the style sheet there, so the client alone decides.
        """
        if not is_static(path):
            self._last[client] = path
            return False
        page = self._last.get(client)
        if page is None:
            return False
        asked_from = None if referer is None else _path_of(referer)
        return asked_from is None or asked_from == page or is_static(asked_from)


def is_static(path: str) -> bool:
    """Tell whether the path names a file that pages are made of."""
    _, dot, extension = path.partition("?")[0].rpartition("/")[2].rpartition(".")
    return bool(dot) and extension.lower() in _STATIC


@lru_cache(maxsize=16384)
def _path_of(url: bytes) -> str | None:
    address = split_url(url)
    return None if address is None else address.path
