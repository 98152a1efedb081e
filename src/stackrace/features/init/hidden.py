"""Why pages are not raced, in few words: how many for each reason, and one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...app.examiner.crawl import SLOW_S
from ...race.preparation.pages import Page
from .survey import ProjectSurvey

__all__ = ["Hidden", "hidden"]

_LOGIN = re.compile(r"log-?in|sign-?in|[?&]next=", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Pages that are not raced for the same reason."""

    reason: str
    pages: tuple[Page, ...]

    @property
    def example(self) -> str:
        """The path of the first of them, as it was asked for."""
        return self.pages[0].via or self.pages[0].path

    @property
    def detail(self) -> str:
        """What the app said of the example; empty where the reason says it all."""
        page = self.pages[0]
        return page.problem.partition(": ")[2] if _is_telling(page.status or 0) else ""


def _is_telling(status: int) -> bool:
    """Tell whether an answer has a cause that can be mended: a Host, a redirect to https, an exception."""
    return status == 400 or 300 <= status < 400 or status >= 500


def hidden(survey: ProjectSurvey, raced: Sequence[Page]) -> tuple[Hidden, ...]:
    """Return the pages of ``survey`` that are not ``raced``, by reason; those that were asked for come first."""
    paths = {page.path for page in raced}
    by_reason: dict[str, dict[str, Page]] = {}
    for page in sorted(survey.pages, key=lambda page: page.status is None):
        if page.path not in paths:
            by_reason.setdefault(_reason(page), {}).setdefault(page.via or page.path, page)
    return tuple(Hidden(reason=reason, pages=tuple(pages.values())) for reason, pages in by_reason.items())


def _reason(page: Page) -> str:
    if page.status is None:
        return page.problem
    if page.status in (401, 403) or (page.via and not page.is_main and _LOGIN.search(page.path)):
        return "wants a login"
    if page.problem:
        return f"answers {page.status}"
    if page.via and not page.is_main:
        return "redirects to another page"
    if page.is_main:
        return "is slow, so it wants a race of its own" if page.seconds > SLOW_S else "answers, too"
    return "is no page for visitors"
