"""The rules of axe-core for pages that everybody can use, as tools/install-test-tools has installed them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.chromium import Chromium

# read when tests are collected: later the cache folder is one of the test run's own
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stackrace" / "test-axe"


WIDE, PHONE = (1280, 900), (390, 844)


def look(browser: Chromium, scheme: str, size: tuple[int, int]) -> list[str]:
    """Show the open page ``light`` or ``dark`` in a window of ``size``, and return how it breaks the rules."""
    browser.size(*size, mobile=size == PHONE)
    browser.prefer(scheme)
    assert browser.run("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
    assert browser.run("document.documentElement.scrollWidth") <= size[0]
    return violations(browser)


def violations(browser: Chromium) -> list[str]:
    """Return how the open page breaks the rules, a line for each element."""
    script = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        pytest.skip("axe-core is not installed: run tools/install-test-tools (it needs npm)")
    if not browser.run("'axe' in window"):
        browser.run(script.read_text(encoding="utf-8") + "; 0")
    found = browser.run("axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)")
    return [f"{rule['id']}: {node['html']} {node['failureSummary']}" for rule in found for node in rule["nodes"]]
