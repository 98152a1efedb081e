"""What is said of files that were written, modules that were imported, and servers that an app talks to."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from stackrace.base.process.view import ProtectedView, Relocation
from stackrace.deploy import escapes as escapes_module
from stackrace.deploy.escapes import Escapes


@pytest.fixture(autouse=True)
def servers(monkeypatch):
    """Servers at some ports of this machine."""
    monkeypatch.setattr(escapes_module, "listeners", lambda: dict.fromkeys((4123, 5432, 6379, 9999, 41234)))


def seen(settled=(), relocation=None, named=(), service_urls=(), closed=(), **what):
    escapes = Escapes()
    escapes.note(SimpleNamespace(**({"written": (), "imported": (), "connected": ()} | what)))
    view = ProtectedView(relocation=relocation or Relocation(), read_only=closed)
    return list(escapes.notes(settled, view, named, service_urls))


def test_only_what_is_not_settled_is_named():
    settled = (Path("/srv/site"), Path("/home/me/.cache"))
    written = tuple(map(Path, ("/srv/site/a.db", "/home/me/.cache/fonts", "/var/lib/b.db", "/var/log/c.log")))
    (note,) = seen(settled, written=written)
    assert note.startswith("The app writes to /var/lib/b.db, /var/log/c.log, which is not copied")
    assert note.endswith('write [app] protect = ["/var/lib", "/var/log"].')
    assert not seen(settled, written=written[:2])


def test_an_address_of_all_interfaces_is_the_loopback_one():
    (note,) = seen(connected=("0.0.0.0:6379", "127.0.0.1:6379", "[::]:5432", "0.0.0.0:1"))
    assert note.startswith("The app talks to 127.0.0.1:6379 (redis), [::1]:5432 (postgresql): ")


def test_an_original_that_is_written_though_it_has_a_copy_needs_another_way_out(tmp_path):
    relocation = Relocation(tmp_path / "copy").with_copies(tmp_path / "site")
    (note,) = seen((tmp_path / "copy",), relocation, written=(tmp_path / "site" / "a.db",))
    assert note.endswith("its code knows this path from elsewhere. Lead it to another by a variable, [app] env.")


def test_what_was_kept_from_being_written_is_named_with_what_was_not():
    written = tuple(map(Path, ("/home/me/x", "/var/lib/x", "/home/me/race/x")))
    held, changed = seen((Path("/home/me/race"),), closed=(Path("/home/me"),), written=written)
    assert held.startswith("The app cannot write to /home/me/x: ")
    assert changed.startswith("The app writes to /var/lib/x, which is not copied")


def test_a_module_that_is_imported_though_it_has_a_copy_is_named(tmp_path):
    (tmp_path / "site").mkdir()
    relocation = Relocation(tmp_path / "copy").with_copies(tmp_path / "site")
    copy = relocation.path(tmp_path / "site")
    copy.mkdir(parents=True)
    (copy / "shop.py").touch()
    (copy / "env").symlink_to("/usr")
    modules = [tmp_path / "site/shop.py", tmp_path / "site/env/bin", copy / "shop.py", Path("/usr/lib/x.py")]
    (note,) = seen((tmp_path,), relocation, imported=modules)
    assert note.startswith(f"{tmp_path}/site/shop.py was imported, and not its copy: ")


def test_servers_that_an_app_talks_to_are_named_with_their_kind():
    (note,) = seen(connected=("127.0.0.1:6379", "[::1]:9999", "/run/mysqld/mysqld.sock"))
    assert note.startswith(
        "The app talks to 127.0.0.1:6379 (redis), [::1]:9999, /run/mysqld/mysqld.sock (mysql): what it writes there"
    )


def test_an_address_that_the_app_only_tried_is_not_named():
    assert not seen(connected=("127.0.0.1:9051", "[::1]:9052"))
    assert seen(connected=("192.0.2.1:9051",))


def test_servers_that_are_known_or_the_races_own_are_not_named():
    assert not seen(named=("postgresql",), connected=("127.0.0.1:5432", "/run/postgresql/.s.PGSQL.5432"))
    assert not seen((Path("/tmp/race"),), connected=("/tmp/race/redis.sock",))
    assert not seen(service_urls=("redis://127.0.0.1:41234/0",), connected=("127.0.0.1:41234",))
    assert seen(service_urls=("redis://127.0.0.1:41234/0",), connected=("127.0.0.1:4123",))
