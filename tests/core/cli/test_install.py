"""``stackrace install``: what it takes, what it lists, and what it says where it cannot."""

import json
import platform

import pytest
from click.testing import CliRunner
from tests.absent import nothing_installed

from stackrace.base.errors import InputError, MissingError
from stackrace.base.platforms import this_platform
from stackrace.cli.install import _complete, command

RAILS = ["ruby", "ruby-actionpack", "ruby-dalli", "ruby-mysql2", "ruby-railties", "ruby-sqlite3"]


@pytest.fixture
def bare(monkeypatch, tmp_path):
    nothing_installed(monkeypatch, tmp_path)
    return tmp_path


def planned(*words):
    done = CliRunner().invoke(command, [*words, "--dry-run", "--json"], catch_exceptions=False)
    assert not done.exit_code, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("word", "packages"),
    [
        ("nginx", ["nginx-light"]),
        ("mariadb", ["mariadb-server"]),
        ("nginx/http/gunicorn:workers=2", ["nginx-light"]),
        ("ladder", ["gcc", "libmariadb-dev", "mariadb-server", "memcached", "pkg-config"]),
        ("rails", RAILS),
        ("historic/mod-wsgi-2009/c-rails", [*RAILS, "mariadb-server", "memcached", "puma"]),
        ("historic/mod-wsgi-2009", [*RAILS, "apache2", "gcc", "libmariadb-dev", "mariadb-server", "pkg-config"]),
    ],
)
def test_it_takes_servers_services_apps_races_and_comparisons(bare, word, packages):
    plan = planned(word)
    assert set(packages) <= set(plan["packages"])
    assert plan["installed"] is False
    assert plan["command"].endswith(" ".join(plan["packages"]))


def test_packages_of_python_are_listed_with_those_of_debian(bare):
    plan = planned("historic/mod-wsgi-2009")
    assert {"mysqlclient>=2.2,<3", "sqlalchemy>=2,<3"} <= set(plan["python_packages"])


def test_a_dry_run_is_readable_and_installs_nothing(bare):
    done = CliRunner().invoke(command, ["mariadb", "openlitespeed", "--dry-run"])
    assert done.exit_code == 0
    assert "missing: mariadb (no program mariadbd" in done.output
    assert "would run: " in done.output and "mariadb-server" in done.output
    assert "openlitespeed has no Debian package; " in done.output


def test_without_apt_it_names_the_packages(bare):
    done = CliRunner().invoke(command, ["mariadb", "nginx"])
    assert isinstance(done.exception, InputError)
    assert "there is no apt-get here" in done.exception.message
    assert done.exception.message.endswith("mariadb-server nginx-light")


@pytest.fixture
def system(bare, monkeypatch):
    """Return a function that makes this machine one of another distribution, with nothing installed."""

    def become(**release):
        monkeypatch.setattr(platform, "freedesktop_os_release", lambda: release)
        this_platform.cache_clear()

    yield become
    monkeypatch.undo()
    this_platform.cache_clear()


def test_fedora_gets_its_own_packages_and_the_way_to_the_others(system):
    system(ID="fedora", PRETTY_NAME="Fedora Linux 43")
    plan = planned("nginx", "redis", "apache")
    assert plan["packages"] == ["nginx-core", "nginx-mimetypes", "valkey-compat-redis"]
    assert plan["command"].endswith(f"dnf install -y --setopt=install_weak_deps=False {' '.join(plan['packages'])}")
    done = CliRunner().invoke(command, ["nginx", "apache", "--dry-run"])
    assert "apache has no known Fedora package; race it in the container image" in done.output


def test_all_installs_what_a_system_has_and_names_the_rest(system):
    system(ID="alpine", PRETTY_NAME="Alpine Linux v3.22")
    done = CliRunner().invoke(command, ["--all", "--dry-run", "--json"])
    assert {"caddy", "nginx", "musl-dev"} <= set(json.loads(done.stdout)["packages"])
    left_out = done.stderr.partition("left out, without a known Alpine package: ")[2].strip().split(", ")
    assert {"apache", "h2o", "puma", "unit"} <= set(left_out)
    assert not {"caddy", "gunicorn", "nginx"} & set(left_out)


def test_an_unknown_package_manager_is_told_debians_names(system):
    system(ID="arch", PRETTY_NAME="Arch Linux")
    done = CliRunner().invoke(command, ["nginx"])
    assert isinstance(done.exception, MissingError)
    said = (
        "nginx has no known package; install with Arch Linux's own package manager what Debian calls: nginx-light"
    )
    assert said in done.exception.message


def test_if_possible_succeeds_without_roots_rights(bare):
    done = CliRunner().invoke(command, ["mariadb", "--if-possible"])
    assert done.exit_code == 0
    assert "not installed, for want of root's rights: mariadb" in done.output


def test_what_has_no_package_is_refused_with_where_to_get_it(bare):
    done = CliRunner().invoke(command, ["openlitespeed"])
    assert isinstance(done.exception, MissingError)
    assert "openlitespeed has no Debian package; install it as" in done.exception.message


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("mariadbb", "did you mean mariadb?"),
        ("mysql", "did you mean mariadb?"),
        ("flask", "What your app imports belongs into the app's own environment: pip install flask"),
        ("nginx/ajp/gunicorn", "nginx does not forward ajp"),
        ("historic/mod-wsgi-2008", "known:"),
        ("none.toml", "no race file none.toml"),
    ],
)
def test_what_stands_for_nothing_is_refused(word, said):
    done = CliRunner().invoke(command, [word])
    assert said in done.exception.message


def test_the_shell_completes_names_and_files():
    def completed(text):
        return [(item.value, item.type) for item in _complete(None, None, text)]

    assert completed("maria") == [("mariadb", "plain")]
    assert ("historic/mod-wsgi-2009", "plain") in completed("historic/")
    assert completed("race.to") == [("race.to", "file")]
