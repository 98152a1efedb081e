"""In which order pages are asked for."""

from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.examiner.crawl import _ALIKE, _CHANGES, _MOST_ALIKE, _MOST_AT_TOP, choose, links
from stackrace.app.examiner.survey import View

paths = st.lists(st.sampled_from(["/", "/a/", "/a/1/", "/a/2/", "/b?x=1", "/log-out", "/c/d/", "/admin/x/"]))


def test_the_given_come_first_then_sitemaps_then_routes():
    choice = choose(["/", "/mine/deep/"], ["/far/away/"], ["/a/", "/mine/deep/"], [])
    assert choice.asked == ["/", "/mine/deep/", "/far/away/", "/a/"]


def test_of_each_kind_those_with_the_fewest_parameters_come_first_then_those_at_the_top():
    views = {"/books/7/": View("book", 1), "/about/us/": View("about", 0), "/list/": View("list", 0)}
    located = ["/books/7/", "/list/?page=2", "/about/us/", "/list/"]
    choice = choose([], located, [], [], lambda path: views.get(path, View("", 0)))
    assert choice.asked == ["/list/", "/about/us/", "/books/7/", "/list/?page=2"]


def test_a_few_pages_of_a_view_stand_for_the_others_wherever_they_lie():
    listed = [f"/{number}/" for number in range(6)]
    choice = choose([], listed, [], [], lambda path: View("article", 1))
    assert choice.asked == listed[:_MOST_ALIKE]
    assert choice.unasked == dict.fromkeys(listed[_MOST_ALIKE:], _ALIKE)


def test_pages_at_the_top_may_differ_so_more_of_them_are_asked_for():
    top, folder = [f"/page{number}/" for number in range(20)], [f"/news/{number}/" for number in range(20)]
    assert choose([], top + folder, [], []).asked == top[:_MOST_AT_TOP] + folder[:_MOST_ALIKE]


def test_routes_of_unknown_views_are_all_asked_for_but_the_administrations():
    routes = [*(f"/api/{number}" for number in range(6)), "/admin/", "/admin/users/"]
    assert choose([], [], routes, []).asked == ["/admin/", *routes[:6]]


def test_links_count_where_little_else_is_known():
    assert choose([], [], ["/a/"], ["/b/"]).asked == ["/a/", "/b/"]
    assert choose([], ["/x/", "/y/", "/z/"], [], ["/b/"]).asked == ["/x/", "/y/", "/z/"]
    assert links(
        b'<a href="/b/?x=1&amp;y=2">b</a> <a class=x href="//other/">o</a> <a href="/b/?x=1&amp;y=2">'
    ) == ["/b/?x=1&y=2"]


@given(paths, paths, paths, paths)
def test_every_page_is_asked_for_or_not_and_never_both(given, located, routes, linked):
    choice = choose(given, located, routes, linked)
    assert len(set(choice.asked)) == len(choice.asked)
    assert not set(choice.asked) & set(choice.unasked)
    assert set(given) | set(located) <= set(choice.asked) | set(choice.unasked)
    assert "/log-out" in given or choice.unasked.get("/log-out", _CHANGES) == _CHANGES
