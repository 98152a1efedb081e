"""Ask a site for its pages, the most telling first, for as long as there is time."""

from __future__ import annotations

import base64
import time
from typing import Any

from .asking import Asking
from .choice import SLOW_S, choose, is_main, links, located
from .messages import Channel, CrawlOrder, ExchangeMessage, Report, RequestMessage
from .survey import view_of

_HOME = "/"
_HOME_S = 30.0
"""What the home page may take, however short the time for all others is."""
_GRACE_S = 5.0
"""How much longer than its time a crawl may take for its last page."""
_SITEMAPS_SHARE = 0.25
"""The share of the time in which sitemaps may be asked for; some sites make them anew for every answer."""


def crawl(order: CrawlOrder, asking: Asking, application: Any, report: Report, channel: Channel) -> None:
    """Write the survey as a report first, then each page as it is answered: one that hangs costs no other."""
    survey = report["survey"]
    assert survey is not None
    begun_s = time.monotonic()

    def left_s() -> float:
        return order["time_s"] - (time.monotonic() - begun_s)

    def fetch(path: str) -> tuple[int, bytes]:
        is_late = left_s() < (1 - _SITEMAPS_SHARE) * order["time_s"]
        return (0, b"") if is_late else asking.glance(_request(order, path))

    channel.end_in(max(order["time_s"], _HOME_S) + _GRACE_S)
    home = asking.page(_request(order, _HOME))
    channel.end_in(max(left_s(), 0.0) + _GRACE_S)
    linked = links(base64.b64decode(home["first"]["body"] or "")) if home["first"]["status"] == 200 else []
    view = view_of(application, report["django"] is not None)
    given, named = (_HOME, *order["given"]), located(fetch, order["sitemap"])
    chosen = choose(given, named, survey["pages"], linked, view)
    survey["asked"], survey["unasked"] = chosen
    channel.report(report)
    channel.page(home)
    able = int(_is_able(home))
    for done, path in enumerate(chosen.asked[1:], start=1):
        # the user's own pages are asked for, however long the others take
        if done >= len(given) and (left_s() <= 0 or able == order["enough"]):
            return
        channel.progress(done, len(chosen.asked), _eta_s(done, len(chosen.asked), left_s(), order["time_s"]))
        page = asking.page(_request(order, path))
        channel.page(page)
        able += _is_able(page)


def _is_able(page: ExchangeMessage) -> bool:
    """Tell whether a page counts among those that are enough."""
    is_success = 200 <= page["first"]["status"] < 300
    return is_success and is_main(page["path"], page["via"]) and page["wall_s"] <= SLOW_S


def _eta_s(done: int, number: int, left_s: float, time_s: float) -> float:
    """Return how long the rest will take if it is as quick as what was asked, and at most what is left."""
    return max(min(left_s, (time_s - left_s) / done * (number - done)), 0.0)


def _request(order: CrawlOrder, path: str) -> RequestMessage:
    return {"method": "GET", "path": path, "headers": order["headers"], "body": ""}
