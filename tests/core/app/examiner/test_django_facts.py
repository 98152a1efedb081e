"""Django's settings as Django itself understands them."""

import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from django.http.request import validate_host
from django.urls import path, set_urlconf
from django.views.static import serve
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.examiner.course import _LOOPBACK, _allowed_hosts, _choose_host, _media
from stackrace.app.examiner.survey import _django_level


@pytest.mark.parametrize(
    ("hosts", "debug", "allowed"),
    [
        (["shop.example.com"], False, ["shop.example.com"]),
        ([None], False, []),
        ([""], True, []),
        ([], False, []),
        ([], True, ["localhost", "127.0.0.1", "[::1]"]),
    ],
)
def test_no_host_under_debug_means_loopback_and_a_variable_that_is_not_set_means_none(hosts, debug, allowed):
    assert _allowed_hosts(SimpleNamespace(ALLOWED_HOSTS=hosts, DEBUG=debug)) == allowed


@pytest.mark.parametrize(
    ("pattern", "paths"), [("^health$", ["/health"]), (r"^items/(?P<pk>\d+)/$", ["/items/<pk>/"]), ("^$", ["/"])]
)
def test_routes_of_django_before_2_are_regular_expressions(pattern, paths):
    entry = SimpleNamespace(regex=re.compile(pattern))
    assert list(_django_level([entry], "/")) == paths


def guarded(request, name):
    """Send an upload to whom it belongs."""


@pytest.mark.parametrize(
    ("patterns", "url"),
    [([], "/media/"), ([path("media/<path:path>", serve)], "/media/"), ([path("media/<path:name>", guarded)], "")],
)
def test_uploads_that_a_view_of_the_project_sends_are_no_front_ends(patterns, url):
    urls = ModuleType("urls")
    urls.urlpatterns = patterns
    set_urlconf(urls)
    try:
        found = _media(SimpleNamespace(MEDIA_URL="/media/", MEDIA_ROOT="/srv/media"))
    finally:
        set_urlconf(None)
    assert found == (url, Path("/srv/media") if url else None)


@pytest.mark.parametrize(("url", "root"), [("/", "/srv"), ("/media/", ""), ("https://cdn.example/", "/srv")])
def test_without_a_folder_or_an_address_here_there_are_no_uploads(url, root):
    assert _media(SimpleNamespace(MEDIA_URL=url, MEDIA_ROOT=root)) == ("", None)


labels = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True)
domains = st.lists(labels, min_size=1, max_size=3).map(".".join)
patterns = st.one_of(domains, domains.map(lambda domain: f".{domain}"), st.sampled_from([*_LOOPBACK, "*"]))


@given(st.lists(patterns, min_size=1, max_size=4))
def test_django_accepts_the_chosen_host(allowed):
    assert validate_host(_choose_host(allowed), allowed)


def test_loopback_is_preferred_where_it_may_be():
    assert _choose_host(["shop.example.com", "localhost"]) == "localhost"
    assert _choose_host(["shop.example.com", "*"]) == "127.0.0.1"
    assert _choose_host([]) == "127.0.0.1"
    assert _choose_host([".example.com"]) == "example.com"
