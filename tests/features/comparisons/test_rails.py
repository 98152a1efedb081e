"""The Rails app's parts that need no service and no server."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from stackrace.app.app import EntryKind
from stackrace.app.bundle import bundled
from stackrace.features.comparisons.apps import _missing_gems
from stackrace.stacks.setting import Interface

RAILS = bundled("rails")

ruby = pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed")


def surroundings(expression, **environ):
    """Return what a Ruby expression gives, as JSON, where the variables are only these."""
    code = f'require "json"; puts(({expression}).to_json)'
    return subprocess.run(
        ["ruby", "-r", str(RAILS.root / "lib/surroundings.rb"), "-e", code],
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
    )


def test_it_is_a_rack_app_in_production_mode(tmp_path):
    app = RAILS.app(python=Path("python3"), data=tmp_path)
    assert (app.entry.kind, app.entry.target) == (EntryKind.RACK, "config.ru")
    assert app.interfaces == {Interface.RACK}
    assert app.environment == {"RAILS_ENV": "production", "RACK_ENV": "production", "APP_DATA": str(tmp_path)}
    assert (app.root / app.entry.target).is_file()
    assert app.services == ()
    assert set(RAILS.urls) <= set(RAILS.pages)


@ruby
@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "mysql://root@localhost/app?unix_socket=/tmp/Ab_c",
            {"socket": "/tmp/Ab_c", "username": "root"},
        ),
        ("mysql://u:p%40+s@db:3307/shop", {"host": "db", "port": 3307, "password": "p@+s", "database": "shop"}),
        (f"mysql://{quote('ü', safe='')}@db/shop", {"host": "db", "port": 3306, "username": "ü"}),
    ],
)
def test_the_database_url_is_read(url, expected):
    found = json.loads(surroundings("Surroundings.mysql", DATABASE_URL=url).stdout)
    assert expected.items() <= found.items()


@ruby
@pytest.mark.parametrize("url", ["", "postgresql://u@h/n", "mysql://u@h/not a path", "nonsense"])
def test_another_database_is_none(url):
    assert json.loads(surroundings("Surroundings.mysql", DATABASE_URL=url).stdout) == {}
    assert 'add "mariadb"' in surroundings("Surroundings.require_mysql!", DATABASE_URL=url).stderr


@ruby
def test_several_memcached_servers_may_be_given():
    two = {"MEMCACHED_SOCKET": "/a", "MEMCACHED_SOCKET_2": "/b", "MEMCACHED_SOCKET_3": ""}
    assert json.loads(surroundings("Surroundings.memcached", **two).stdout) == ["/a", "/b"]
    assert json.loads(surroundings("Surroundings.memcached").stdout) == []
    elsewhere = {"MEMCACHED_SERVER": "10.0.0.3:11211", "MEMCACHED_SERVER_2": "10.0.0.3:11212"}
    found = surroundings("Surroundings.memcached", **elsewhere).stdout
    assert json.loads(found) == ["10.0.0.3:11211", "10.0.0.3:11212"]


@ruby
def test_there_is_no_default_folder_to_write_to():
    done = surroundings("Surroundings.data")
    assert done.returncode == 1
    assert done.stderr == "rails: set APP_DATA to a writable folder\n"


def test_ruby_is_named_with_its_packages_where_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    item = RAILS.missing_item()
    assert item.missing.startswith("no program ruby, no gem railties")
    assert len(item.packages) == 8
    assert {"ruby-mysql2", "ruby-dalli", "ruby-actionpack-page-caching"} <= set(item.packages)


@ruby
def test_a_gem_that_ruby_does_not_have_is_missing_and_others_are_not():
    assert _missing_gems(["no-such-gem-anywhere", "json"]) == {"no-such-gem-anywhere"}
    assert _missing_gems([]) == frozenset()
