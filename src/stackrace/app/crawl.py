"""A crawl as it is ordered, and what is heard of it while it goes on."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from .examiner.messages import CrawlOrder, RequestMessage

__all__ = ["Crawl", "OnProgress", "Progress", "unheard", "watched"]

LOOK_S = 0.2
"""How often it is looked how far a crawl is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a crawl is."""

    done: int
    pages: int
    left_s: float
    """What the other pages are expected to take."""


OnProgress = Callable[[Progress], None]


def unheard(progress: Progress) -> None:
    """Hear it and do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """Ask for the home page, the paths ``given`` and all that the app and its sitemaps name."""

    time_s: float
    """From the moment at which the app is loaded."""
    given: tuple[str, ...] = ()
    sitemap: str = ""
    """The path of one that robots.txt does not name."""
    enough: int | None = None
    """So many pages that can be raced end it; None: nothing but the time does."""
    on_progress: OnProgress = unheard

    def order(self, request: RequestMessage) -> CrawlOrder:
        """Return it as the examiner takes it, its headers those of ``request``."""
        return {
            "given": list(self.given),
            "headers": request["headers"],
            "sitemap": self.sitemap,
            "time_s": self.time_s,
            "enough": self.enough,
        }


def watched(
    report: IO[bytes], on_progress: OnProgress, timeout_s: float
) -> Callable[[subprocess.Popen[bytes]], int | None]:
    """Attend by waiting for the exit code, None when that takes longer; pass on the progress in ``report``."""
    read = 0

    def look() -> None:
        nonlocal read
        # the process writes at the file's own place, so it is read without moving that
        text = os.pread(report.fileno(), os.fstat(report.fileno()).st_size - read, read)
        whole = text.rpartition(b"\n")[0]
        read += len(whole)
        lines = [line for line in whole.splitlines() if line.startswith(b"progress ")]
        if lines:
            _, done, pages, left_s = lines[-1].split()
            on_progress(Progress(done=int(done), pages=int(pages), left_s=float(left_s)))

    def wait(process: subprocess.Popen[bytes]) -> int | None:
        deadline_s = time.monotonic() + timeout_s
        while (left_s := deadline_s - time.monotonic()) > 0:
            try:
                return process.wait(min(LOOK_S, left_s))
            except subprocess.TimeoutExpired:
                look()
        return None

    return wait
