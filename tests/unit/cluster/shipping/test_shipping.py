"""From the coordinator's files to a host that races from them, and back."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from stackrace.app.app import App, Entry, EntryKind
from stackrace.base.errors import AppError, InputError
from stackrace.features.cluster import leased
from stackrace.features.cluster.shipping import archive, receiving, sending, slots
from stackrace.features.cluster.shipping.moved import Abroad, moved_request
from stackrace.features.cluster.shipping.packing import packed
from stackrace.features.cluster.shipping.parcel import Part
from stackrace.features.cluster.shipping.sending import ship
from stackrace.features.cluster.shipping.slots import unpacked
from stackrace.race.request.request import WorkloadRequest


def names_of(whole, part):
    top = whole.shipment.top
    return {str(path.relative_to(top)) for path in whole.shipment.parcel(part).names}


def shipped(request, wire, member):
    """Send it; returns the shipment."""
    with packed(request) as whole:
        assert ship(wire, [member], whole, lambda preparing: None) == {"host-1": True}
        return whole.shipment


@contextmanager
def refused(pattern):
    with pytest.raises(InputError) as caught:
        yield
    assert re.match(pattern, caught.value.message), caught.value.message


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_race_needs_project_environment_and_data(project, request_of):
    with packed(request_of(env_files=(project / ".env",))) as whole:
        assert names_of(whole, Part.PROJECT) == {".git", ".gitignore", "app.py", "settings.ini"}
        assert names_of(whole, Part.DATA) == {".env", "db.sqlite3"}
        environment = names_of(whole, Part.ENVIRONMENT)
        assert ".venv/bin/tool" in environment
        # the interpreter is the host's own
        assert not {name for name in environment if name.startswith(".venv/bin/python")}
        assert whole.ignored == ("logs/",)


def test_files_that_the_request_names_are_needed_wherever_they_lie(project, request_of, tmp_path):
    for name in ("seed.sql", "visits.har", "x.env"):
        (tmp_path / name).write_text(name)
    (project / "rows.log").write_text("ignored, but loaded")
    (project / ".gitignore").write_text(".venv\n*.log\nlogs/\nbuilt/\n*.sqlite3\n.env\n")
    (project / "built").mkdir()
    (project / "built" / "site.css").write_text("")
    request = request_of(
        env_files=(tmp_path / "x.env",),
        static={"/static/": project / "built"},
        workloads=(WorkloadRequest(name="a", session=tmp_path / "visits.har"),),
        prepare=(("sh", "-ec", f"psql < {tmp_path}/seed.sql"), ("python", "load.py", "--rows=rows.log", "/bin/sh")),
    )
    with packed(request) as whole:
        data = {path.name for path in whole.shipment.parcel(Part.DATA).names}
        assert data == {"seed.sql", "visits.har", "x.env", "site.css", "rows.log", "db.sqlite3"}
        assert whole.ignored == (".env", "logs/")


def test_a_bundled_app_needs_nothing(request_of, tmp_path):
    request = request_of()
    with packed(replace(request, entry=None, bundled="django")) as whole:
        assert whole is None


def test_the_same_needs_have_the_same_digests(request_of):
    with packed(request_of()) as one, packed(request_of()) as other:
        assert [parcel.digest for parcel in one.shipment.parcels] == [
            parcel.digest for parcel in other.shipment.parcels
        ]


def test_nothing_is_sent_to_a_host_that_has_it_under_the_same_paths(
    request_of, wire, member, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "host"))
    with packed(request_of()) as whole:
        assert ship(wire, [member], whole, lambda preparing: None) == {"host-1": False}
    assert not wire.pieces
    assert not (tmp_path / "host").exists()


def test_a_host_with_other_files_there_is_sent_them(project, request_of, member, tmp_path, monkeypatch, wire):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "host"))
    with packed(request_of()) as whole:
        pieces = [b"".join(sending.pieces(content)) for content in whole.contents.values()]
        monkeypatch.setattr(sending, "pieces", lambda content: iter([pieces.pop(0)]))
        (project / "app.py").write_text("application = 'another'\n")
        assert ship(wire, [member], whole, lambda preparing: None) == {"host-1": True}


def test_what_was_sent_is_unpacked_and_works_there(project, request_of, wire, member, host):
    shipment = shipped(request_of(env_files=(project / ".env",)), wire, member)
    with unpacked(shipment) as relocation:
        root = relocation.path(project)
        assert root.is_relative_to(host)
        assert (root / "app.py").read_text() == "application = None\n"
        # what names the project's own path is led along
        assert (root / "settings.ini").read_text() == f"[paths]\ndata = {root}/data\n"
        assert (root / ".env").read_text() == "KEY=secret\n"
        assert (root / ".git").is_dir()
        with closing(sqlite3.connect(root / "db.sqlite3")) as database:
            assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]
        ran = subprocess.run([root / ".venv" / "bin" / "tool"], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == str(root / ".venv")
        code = "import sys; print(sys.path)"
        ran = subprocess.run([root / ".venv/bin/python", "-c", code], capture_output=True, text=True, check=True)
        assert str(project) + "/src" not in ran.stdout.replace(str(relocation.place), "…")
    assert not (project / ".venv" / "bin" / "python").resolve().is_relative_to(host)


def test_scripts_start_from_a_place_that_is_too_long_for_the_kernel(
    project, request_of, wire, member, host, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ("x" * 200)))
    with unpacked(shipped(request_of(), wire, member)) as relocation:
        tool = relocation.path(project) / ".venv" / "bin" / "tool"
        assert tool.read_text().startswith("#!/bin/sh\n")
        ran = subprocess.run([tool], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == str(tool.parent.parent)


def test_a_second_race_is_sent_nothing_and_finds_what_an_app_wrote_undone(project, request_of, wire, member, host):
    request = request_of()
    with unpacked(shipped(request, wire, member)) as relocation:
        root = relocation.path(project)
        (root / "app.py").write_text("written by the app")
        (root / "upload").write_text("written by the app")
        script = (root / ".venv" / "bin" / "tool").stat().st_ino
    wire.calls.clear()
    with unpacked(shipped(request, wire, member)) as relocation:
        assert not wire.pieces
        assert relocation.path(project) == root
        assert (root / "app.py").read_text() == "application = None\n"
        assert not (root / "upload").exists()
        # layered environments and byte code are made for it
        assert (root / ".venv" / "bin" / "tool").stat().st_ino == script


def test_only_what_changed_is_sent_and_the_former_is_removed(project, request_of, wire, member, host):
    with unpacked(shipped(request_of(), wire, member)) as relocation:
        root = relocation.path(project)
        script = (root / ".venv" / "bin" / "tool").stat().st_ino
        byte_code = host.parent / "pycache" / root.relative_to("/") / "app.cpython-311.pyc"
        byte_code.parent.mkdir(parents=True)
        byte_code.write_text("of the former")
    wire.calls.clear()
    (project / "app.py").write_text("application = True\n")
    with unpacked(shipped(request_of(), wire, member)) as relocation:
        assert len(wire.pieces) == 1
        assert relocation.path(project) == root
        assert (root / "app.py").read_text() == "application = True\n"
        assert (root / ".venv" / "bin" / "tool").stat().st_ino == script
    assert not byte_code.exists()
    assert len(list((host / "parcels").iterdir())) == 3


def test_an_environment_that_changed_is_unpacked_anew(project, request_of, wire, member, host):
    with unpacked(shipped(request_of(), wire, member)):
        pass
    (project / ".venv" / "bin" / "other").write_text("#!/bin/sh\n")
    with unpacked(shipped(request_of(), wire, member)) as relocation:
        assert (relocation.path(project) / ".venv" / "bin" / "other").exists()
        assert (relocation.path(project) / ".venv" / "bin" / "python").exists()


@pytest.mark.parametrize("inside", [".", "src/site"])
def test_a_project_that_lies_in_its_environment_travels(project, request_of, wire, member, host, tmp_path, inside):
    home = tmp_path / "home"
    shutil.copytree(project / ".venv", home, symlinks=True)
    (home / "pyvenv.cfg").write_text((project / ".venv" / "pyvenv.cfg").read_text())
    root = home / inside
    root.mkdir(parents=True, exist_ok=True)
    (root / "app.py").write_text("application = None\n")
    request = replace(request_of(python=home / "bin" / "python"), folder=root)
    for _ in range(2):
        with unpacked(shipped(request, wire, member)) as relocation:
            there = moved_request(request, relocation)
            assert (there.folder / "app.py").read_text() == "application = None\n"
            code = "import sys; print(sys.prefix)"
            ran = subprocess.run([there.python, "-c", code], capture_output=True, text=True, check=True)
            assert ran.stdout.strip() == str(relocation.path(home))


def test_half_of_an_unpacked_project_is_unpacked_anew(project, request_of, wire, member, host, monkeypatch):
    shipment = shipped(request_of(), wire, member)

    def killed(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(slots, "relocate_below", killed)
        with pytest.raises(KeyboardInterrupt), unpacked(shipment):
            pass
    with unpacked(shipment) as relocation:
        assert (relocation.path(project) / ".venv" / "bin" / "python").exists()
        assert str(relocation.place) in (relocation.path(project) / "settings.ini").read_text()
    assert not list((host / "projects").glob("*.part"))


def test_two_races_of_a_project_on_one_machine_have_a_place_each(request_of, wire, member, host):
    shipment = shipped(request_of(), wire, member)
    with unpacked(shipment) as one, unpacked(shipment) as other:
        assert one.place != other.place
    with unpacked(shipment) as again:
        assert again.place == one.place


def test_what_nobody_raced_for_long_is_removed(project, request_of, wire, member, host):
    with unpacked(shipped(request_of(), wire, member)) as relocation:
        old = relocation.place
    left = host / "parcels" / ("0" * 64)
    left.write_text("of a race that never began")
    for path in (left, *host.rglob("*")):
        os.utime(path, (1, 1), follow_symlinks=False)
    other = project.with_name("other")
    shutil.copytree(project, other, symlinks=True)
    request = replace(request_of(), folder=other)
    with unpacked(shipped(request, wire, member)) as relocation:
        assert relocation.place != old
        assert not old.exists()
        assert not left.exists()
        assert len(list((host / "projects").glob("*.json"))) == 1


def test_a_link_out_of_the_project_is_named_before_anything_is_sent(project, request_of, wire, member, host):
    (project / "media").symlink_to("/srv/media")
    with pytest.raises(InputError, match=r"site/media leads out of the project, to /srv/media.*\[app\] protect"):
        shipped(request_of(), wire, member)
    assert not wire.pieces


def test_a_link_to_what_is_named_too_is_kept(project, request_of, wire, member, host, tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a.png").write_text("a")
    (project / "media").symlink_to(tmp_path / "media")
    request = request_of(protect=(tmp_path / "media",))
    with unpacked(shipped(request, wire, member)) as relocation:
        link = relocation.path(project) / "media"
        assert link.is_symlink()
        assert (link / "a.png").read_text() == "a"
        assert moved_request(request, relocation).protect == (link.resolve(),)


def test_more_than_the_user_allows_is_refused_by_name(project, request_of):
    (project / "dump").write_bytes(b"x" * 10_000)
    with refused(r".* more than 4\.88 KiB: \S*site/dump \(9\.77 KiB\), .*\[app\] copy_limit"):
        packed(request_of(most_copied_bytes=5000)).__enter__()


def test_a_full_disk_is_named_before_anything_is_sent(request_of, wire, member, host, monkeypatch):
    monkeypatch.setattr(receiving.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    with refused(
        r"host-1: there is no room for the project: 64.* are needed, and 1 kB are free in .* XDG_CACHE_HOME"
    ):
        shipped(request_of(), wire, member)
    assert not wire.pieces


def test_a_disk_that_fills_up_meanwhile_is_named_and_nothing_is_left(request_of, wire, member, host, monkeypatch):
    begun = receiving.Path.open

    def full(path, mode="r", *args, **more):
        if mode == "wb" and path.parent.name == "parcels":
            begun(path, mode, *args, **more).close()
            raise OSError(28, "No space left on device", str(path))
        return begun(path, mode, *args, **more)

    monkeypatch.setattr(receiving.Path, "open", full)
    with refused("host-1: what is sent cannot be kept in .*No space left on device"):
        shipped(request_of(), wire, member)
    assert not files_in(host)


def test_a_host_without_such_a_python_is_named(project, request_of, wire, member, host, monkeypatch):
    monkeypatch.setattr(
        "stackrace.features.cluster.shipping.rehoming.facts_of", lambda python: (python, "3.1", ".so")
    )
    with refused(r"host-1: the app's environment .*\.venv is for Python 3.*install one"):
        shipped(request_of(), wire, member)
    assert not wire.pieces


def test_a_host_that_races_is_left_alone(request_of, wire, member, host, monkeypatch):
    monkeypatch.setattr(leased, "_current", SimpleNamespace(is_over=False))
    with refused("host-1: this machine hosts another race"):
        shipped(request_of(), wire, member)


def test_what_arrived_is_removed_where_another_host_takes_nothing(request_of, wire, member, host, monkeypatch):
    """As after Ctrl-C: who waits is interrupted, and others are still at work."""
    sent = threading.Event()

    def call(to, function, *args):
        if function is receiving.take and to.name == "host-2":
            sent.wait()
            raise InputError("no room")
        result = function(*args)
        if function is receiving.take:
            sent.set()
            time.sleep(0.3)
        return result

    monkeypatch.setattr(wire, "call", call)
    monkeypatch.setattr(archive, "PIECE_BYTES", 1000)
    with packed(request_of()) as whole, refused("host-2: no room"):
        ship(wire, [replace(member, name="host-2"), member], whole, lambda preparing: None)
    assert not [path for path in files_in(host) if "." in path.name]


def test_a_project_that_changes_while_it_is_sent_is_not_kept(project, request_of, wire, member, host):
    with packed(request_of()) as whole:
        (project / "app.py").write_text("application = True\n")
        with pytest.raises(InputError, match="the project changed while it was sent to host-1"):
            ship(wire, [member], whole, lambda preparing: None)
    assert whole.shipment.parcel(Part.PROJECT).digest not in {path.name for path in (host / "parcels").iterdir()}


def test_pieces_come_in_turn_and_names_lead_nowhere_else(host):
    receiving.take("0" * 64, "a", 0, b"one")
    receiving.take("0" * 64, "a", 3, b"two")
    with pytest.raises(Exception, match="a part of what was sent is missing"):
        receiving.take("0" * 64, "a", 9, b"four")
    assert receiving.keep("0" * 64, "a") is False
    with pytest.raises(InputError, match="is no parcel"):
        receiving.take("../../evil", "a", 0, b"")
    with pytest.raises(InputError, match="is no parcel"):
        receiving.take("0" * 64, "../evil", 0, b"")


def test_a_request_is_moved_with_all_that_lies_in_what_was_sent(project, request_of, wire, member, host):
    request = request_of(
        python=project / ".venv" / "bin" / "python",
        environment={"DATA": f"{project}/data", "OTHER": "/srv", "URL": "/site"},
        env_files=(project / ".env",),
        static={"/static/": project / "static"},
        prepare=(("python", "load.py", f"--from={project}/rows"),),
        session=project / "visits.har",
        current=project / "Procfile",
        source=project / "race.toml",
    )
    with unpacked(shipped(request, wire, member)) as relocation:
        moved, root = moved_request(request, relocation), relocation.path(project)
        assert moved.folder == root
        assert moved.python == root / ".venv" / "bin" / "python"
        assert moved.environment == {"DATA": f"{root}/data", "OTHER": "/srv", "URL": "/site"}
        assert moved.env_files == (root / ".env",)
        assert moved.static == {"/static/": root / "static"}
        assert moved.prepare == (("python", "load.py", f"--from={root}/rows"),)
        assert (moved.session, moved.current) == (root / "visits.har", root / "Procfile")
        # for messages alone
        assert moved.source == request.source
        app = App(name="site", root=root, entry=Entry(kind=EntryKind.WSGI, target="app:application"))
        assert Abroad(relocation).app(app).root == project
        assert Abroad(relocation).app(app).entry.kind is EntryKind.WSGI
        error = AppError(f"{root}/app.py fails", detail=f"in {root}/app.py")
        Abroad(relocation).rename(error)
        assert (error.message, error.detail) == (f"{project}/app.py fails", f"in {project}/app.py")
        assert str(error) == f"{project}/app.py fails\nin {project}/app.py"


def test_what_a_place_holds_is_told_by_digest(project, request_of, wire, member, host):
    shipment = shipped(request_of(), wire, member)
    with unpacked(shipment) as relocation:
        held = json.loads(Path(f"{relocation.place}.json").read_text())
    assert held["project"] == shipment.parcel(Part.PROJECT).digest
