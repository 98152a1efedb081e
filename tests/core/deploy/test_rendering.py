"""Links with plain names to folders that are called otherwise."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.app import App, Entry, EntryKind
from stackrace.app.examiner.messages import PythonFacts
from stackrace.base.errors import InputError
from stackrace.deploy import guard
from stackrace.deploy.environments import Environments
from stackrace.deploy.rendering import _in_plain_folder, _plain, hosted
from stackrace.stacks.native_files import FileReading, NativeFile
from stackrace.stacks.servers import PLAIN
from stackrace.stacks.setting import Interface

HOSTILE = [
    *(
        "a b",
        "100%",
        'a"b',
        "a'b",
        "$HOME",
        "${x}",
        "a;b",
        "{a}",
        "#a",
        "a\\b",
        "a\nb",
        "a:b",
        "a=b",
        "ä",
        "\udcff",
    ),
    *("ä", "%d@(x)$(y)"),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_an_odd_folder_is_reached_through_a_plain_link(name, tmp_path):
    (tmp_path / name).mkdir()
    (tmp_path / name / "file").write_text("here")
    link = _plain(tmp_path / name, tmp_path)
    assert PLAIN.fullmatch(str(link))
    assert (link / "file").read_text() == "here"
    assert _plain(tmp_path / name, tmp_path) == link


def test_a_plain_folder_is_named_as_it_is(tmp_path):
    assert _plain(tmp_path / "site-1.0_b", tmp_path) == tmp_path / "site-1.0_b"
    assert not (tmp_path / "links").exists()


NAMES = st.binary(min_size=1, max_size=60).map(
    lambda name: os.fsdecode(name.replace(b"/", b"").replace(b"\0", b""))
)


@given(names=st.sets(NAMES, max_size=5))
def test_every_name_has_a_link_of_its_own(names, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    links = {name: _plain(Path("/srv") / name, folder) for name in names}
    assert all(PLAIN.fullmatch(str(link)) for link in links.values())
    assert len(set(links.values())) == len({Path("/srv") / name for name in names})


@pytest.mark.parametrize("name", HOSTILE)
def test_a_server_meets_plain_names_only(name, tmp_path):
    odd, run = tmp_path / name, tmp_path / "run"
    home, packages = odd / "home", odd / "packages"
    for folder in (odd / "static", odd / "public", home / "lib" / "python3.11" / "site-packages", packages, run):
        folder.mkdir(parents=True)
    static = {"/static/": odd / "static"}
    python = App(name="p", root=odd, entry=Entry(kind=EntryKind.WSGI, target="m:a"), static=static)
    app = hosted(python, Interface.WSGI, home=home, folder=run, app_packages=(packages,))
    # PATH has no place for a colon
    ruby_home = tmp_path / name.replace(":", " ")
    rack = App(name="r", root=odd, entry=Entry(kind=EntryKind.RACK, target="config.ru"), ruby=ruby_home / "ruby")
    ruby = hosted(rack, Interface.RACK, home=None, folder=run, app_packages=())
    paths = [
        *(app.root, app.entry, app.python, app.home, *app.site_packages, *app.import_path, *app.static.values()),
        *(ruby.root, ruby.rack.ruby, ruby.rack.config, ruby.rack.public),
    ]
    assert all(PLAIN.fullmatch(str(path)) for path in paths), paths
    assert app.import_path[-1].samefile(odd)
    assert os.pathsep not in app.import_environment["PYTHONPATH"].partition(os.pathsep)[2]


@pytest.mark.parametrize(
    "folder", ["/var/tmp/" + "x" * 40, "/var/tmp/a b", "/var/tmp/50%", "/var/tmp/ä", "/var/tmp/a=b"]
)
def test_the_run_directory_is_short_and_plain_whatever_tmpdir_says(folder, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", folder)
    assert guard._temporary() == "/tmp"


def test_a_cache_whose_name_is_no_utf8_is_refused_by_name(tmp_path):
    environments = Environments(tmp_path / "\udcff", str)
    with pytest.raises(InputError, match=r"the cache '.*udcff.*' has no name in UTF-8.*set XDG_CACHE_HOME"):
        environments.layered(PythonFacts(version="3.11", python=Path("p"), base=Path("b"), site_packages=()), ())


def test_a_configuration_file_lies_in_a_plain_folder(tmp_path):
    odd, run = tmp_path / "50% a\nb", tmp_path / "run"
    odd.mkdir()
    run.mkdir()
    (odd / "uwsgi.ini").write_text("[uwsgi]\ntouch = %d")
    file = NativeFile(path=odd / "uwsgi.ini", text="[uwsgi]", reading=FileReading())
    moved = _in_plain_folder(file, run / "0").path
    assert PLAIN.fullmatch(str(moved))
    assert moved.read_text().startswith("[uwsgi]")
