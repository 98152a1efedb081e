"""Plain files answer as web servers do."""

from pathlib import Path

import pytest
from tests.unprotected import examine

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.golden import golden
from stackrace.app.interpreter import find_ruby
from stackrace.base.errors import AppError
from stackrace.measure.workload import Request
from stackrace.stacks.setting import Interface


@pytest.fixture
def site(tmp_path):
    root = tmp_path / "public"
    (root / "notes").mkdir(parents=True)
    (root / "index.html").write_text("<p>home")
    (root / "notes" / "hello world.txt").write_text("hello")
    (root / "notes" / "odd.zzz").write_bytes(b"\x00")
    (tmp_path / "secret").write_text("secret")
    return App(name="site", root=root, entry=entry_of(EntryKind.FILES, "."))


def ask(site, path, **request):
    (exchange,) = examine(site, [Request(path=path, **request)]).exchanges
    return exchange.first


@pytest.mark.parametrize(
    ("path", "status", "body", "kind"),
    [
        ("/", 200, b"<p>home", "text/html"),
        ("/index.html?v=1", 200, b"<p>home", "text/html"),
        ("/notes/hello%20world.txt", 200, b"hello", "text/plain"),
        ("/notes/odd.zzz", 200, b"\x00", "application/octet-stream"),
        ("/notes/", 404, b"", ""),
        ("/index.html/", 404, b"", ""),
        ("/../secret", 404, b"", ""),
        ("/%2e%2e/secret", 404, b"", ""),
        ("/%00", 400, b"", ""),
    ],
)
def test_a_path_is_the_file_below_the_folder(site, path, status, body, kind):
    reply = ask(site, path)
    assert (reply.status, reply.body, reply.header("content-type")) == (status, body, kind)


def test_a_folder_without_its_slash_redirects_there(site):
    assert ask(site, "/notes").header("location") == "/notes/"
    with pytest.raises(AppError, match="redirects to /notes/; race that"):
        golden(examine(site, [Request(path="/notes")]))


def test_files_can_be_fetched_and_nothing_else(site):
    assert ask(site, "/", method="HEAD").body == b""
    assert ask(site, "/", method="POST").status == 405


def test_a_missing_file_lists_what_there_is(site):
    with pytest.raises(
        AppError, match=r"/x answers 404: no such file; there are /index.html, /notes/hello%20world.txt"
    ):
        golden(examine(site, [Request(path="/x")]))


def test_no_interpreter_is_needed(site):
    found = examine(site)
    assert (found.interface, found.python, found.host) == (Interface.FILES, None, "127.0.0.1")
    assert golden(found).answers[0].body == b"<p>home"


def test_a_folder_that_is_gone_names_the_key(tmp_path):
    app = App(name="gone", root=tmp_path / "gone", entry=entry_of(EntryKind.FILES, "."))
    with pytest.raises(AppError, match=r"\[app\] files"):
        examine(app)


def test_a_ruby_that_is_none_names_the_key(tmp_path):
    (tmp_path / "ruby").touch()
    with pytest.raises(AppError, match=r"\[app\] ruby"):
        find_ruby(tmp_path, Path("ruby"))


def test_no_ruby_at_all_says_what_brings_one(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AppError, match="stackrace install puma"):
        find_ruby(tmp_path)


def test_a_suggested_path_can_be_asked_for(tmp_path):
    (tmp_path / "50% off?.txt").write_text("half")
    site = App(name="site", root=tmp_path, entry=entry_of(EntryKind.FILES, "."))
    (path,) = examine(site, [Request(path="/")]).files
    assert (path, ask(site, path).body) == ("/50%25%20off%3F.txt", b"half")
