import pytest

from stackrace.features.recordings.recorded.pages import Pages, is_static


@pytest.mark.parametrize("path", ["/a.css", "/a/b.min.JS?v=1.2", "/x.y/.ico", "/%20.woff2"])
def test_an_extension_tells_what_is_static(path):
    assert is_static(path)


@pytest.mark.parametrize("path", ["/", "/css", "/a.css/", "/a.html", "/a?b=c.css", "/a.cssx", "/a."])
def test_anything_else_is_not(path):
    assert not is_static(path)


def test_static_files_belong_to_the_page_they_are_asked_for_from():
    pages = Pages()
    assert not pages.embed(b"me", "/a?b=1", None)
    assert not pages.embed(b"you", "/other", None)
    assert pages.embed(b"me", "/x.css", None)
    assert pages.embed(b"me", "/x.css", b"http://shop.example/a?b=1")
    assert pages.embed(b"me", "/x.woff", b"http://shop.example/x.css")
    assert pages.embed(b"me", "/x.css", b"no URL")
    assert not pages.embed(b"me", "/x.css", b"http://shop.example/a")
    assert pages.embed(b"you", "/x.css", b"http://shop.example/other")
    assert not pages.embed(b"nobody", "/x.css", None)
    assert not pages.embed(b"me", "/next", b"http://shop.example/a?b=1")
