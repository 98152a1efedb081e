"""The documentation holds together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "crates").glob("*/README.md")]


def anchors(page: Path) -> set[str]:
    """The headings of ``page`` as links name them: words in lower case with hyphens between them."""
    headings = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_another_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text(encoding="utf-8"))
    for path, anchor in links:
        target = (page.parent / path) if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


def test_every_decision_stands_in_the_index_by_its_number_and_title() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    listed = {
        file: f"# {number}. {title}"
        for number, title, file in re.findall(r"^- (\d+)\. \[(.*)\]\((.*)\)$", index, re.MULTILINE)
    }
    pages = {path.name: path.read_text(encoding="utf-8").partition("\n")[0] for path in DECISIONS.glob("0*.md")}
    assert listed == pages
    assert all(int(name[:4]) == int(title.split()[1].rstrip(".")) for name, title in pages.items())
