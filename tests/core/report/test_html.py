import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from tests.factories import STACKS, make_race, make_standing, with_workloads

from stackrace.base.text import one_line
from stackrace.measure.launch import EndedBy, Failure, FailureKind, Shortfall
from stackrace.race.results.standing import Withdrawal
from stackrace.report.exporter import Format, render
from stackrace.report.merged_standing import standing_of
from stackrace.report.race_sheet import race_sheet
from stackrace.report.sheet import Medium, Paragraph, shown

from .hostile import EVIL, hostile_race, hostile_standing

CASES = {
    "3 stacks": lambda: (race := make_race(3), make_standing(race)),
    "10 stacks, ties, a failure, censored": lambda: (
        race := make_race(10, levels=(1, 5, 20, 100, 250), failures=STACKS[9:10]),
        make_standing(race, ties=3, censored=("p99", "p999", "max"), errors=12),
    ),
    "18 stacks, one level, no limits": lambda: (
        race := make_race(18, levels=(20,), blocks=2),
        make_standing(race, limits=False, settled=False),
    ),
    "several workloads": lambda: (
        race := with_workloads(make_race(3, levels=(1, 20)), "static", "page"),
        standing_of(race),
    ),
    "one stack": lambda: (race := make_race(1), make_standing(race)),
    "nothing measured": lambda: (race := make_race(2, failures=STACKS[:2]), make_standing(race)),
    "hostile": lambda: (race := hostile_race(), hostile_standing(race)),
}


@pytest.fixture(params=CASES, scope="module")
def case(request):
    race, standing = CASES[request.param]()
    return race, standing, render(race, standing, Format.HTML)


class Page(HTMLParser):
    """Collects tags, attributes and visible text; knows whether elements are closed in order."""

    EMPTY = frozenset({"meta", "col", "wbr", "br"})

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if not {"style", "title", "desc"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)


def test_the_page_is_well_formed(case):
    assert Page(case[2]).open == []


def test_its_sentences_are_those_of_the_list_in_order(case):
    race, standing, page = case
    sections = shown(race_sheet(race, standing), Medium.PAGE)
    texts = [block.text for section in sections for block in section.blocks if isinstance(block, Paragraph)]
    read = Page(page).text
    places = [read.index(one_line(text)) for text in texts]
    assert places and places == sorted(places)


def test_nothing_is_loaded_from_elsewhere(case):
    page = Page(case[2])
    assert not {"script", "link", "iframe", "object", "embed", "img", "base", "form"} & set(page.tags)
    for _, name, value in page.attributes:
        if name in ("src", "href", "xlink:href", "action", "srcset"):
            assert value.startswith("#")
        assert not name.startswith("on")
    assert "url(" not in case[2] and "@import" not in case[2]


def test_each_chart_is_valid_xml_and_says_what_it_shows(case):
    for drawing in re.findall(r"<svg.*?</svg>", case[2], re.DOTALL):
        root = ElementTree.fromstring(drawing)
        assert root.get("aria-hidden") == "true" or root.find("title") is not None


def test_ids_are_unique(case):
    ids = [value for _, name, value in Page(case[2]).attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_what_is_reused_exists(case):
    attributes = Page(case[2]).attributes
    ids = {value for _, name, value in attributes if name == "id"}
    assert {value[1:] for tag, name, value in attributes if (tag, name) == ("use", "href")} <= ids


def test_hostile_text_stays_text():
    race = hostile_race()
    text = render(race, hostile_standing(race), Format.HTML)
    assert "<script" not in text
    assert "\x1b" not in text and "\x00" not in text and "\u202e" not in text and "\ud800" not in text
    assert "{{ 7*7 }}" in text and "49" not in EVIL
    text.encode("utf-8")


def test_limits_lower_bounds_and_errors_are_told():
    race = make_race(3)
    page = Page(render(race, make_standing(race, censored=("p99",), errors=12), Format.HTML)).text
    assert "≥ " in page and "12 errors" in page
    assert "there were too few launches" not in page


def test_why_a_stack_was_not_measured_is_said():
    race = make_race(2)
    failure = Failure(kind=FailureKind.UNMEASURED, shortfall=Shortfall(ended_by=EndedBy.BUDGET))
    standing = replace(make_standing(race), withdrawals=(Withdrawal(stack=STACKS[0], failure=failure),))
    page = render(race, standing, Format.HTML)
    assert "the budget was over before its turn" in re.sub("<wbr>", "", page)


def test_the_page_begins_with_the_picture():
    race, standing = CASES["3 stacks"]()
    page = render(race, standing, Format.HTML)
    heading, picture = page.index("</h1>"), page.index('class="bars board"')
    assert heading < picture < page.index("Raced:")
    assert not re.search(r'<p class="(about|reason)', page[heading:picture])
