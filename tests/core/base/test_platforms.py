"""What other systems are told: their own packages, or a way out."""

import pytest

from stackrace.base.errors import InputError
from stackrace.base.platforms import Platform, SystemPackages, platform_of, require_linux
from stackrace.stacks.servers import catalogue
from stackrace.stacks.services import services

RELEASES = {
    "debian": {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux 13 (trixie)"},
    "ubuntu": {"ID": "ubuntu", "ID_LIKE": "debian", "PRETTY_NAME": "Ubuntu 24.04.3 LTS"},
    "mint": {"ID": "linuxmint", "ID_LIKE": "ubuntu debian", "PRETTY_NAME": "Linux Mint 22"},
    "fedora": {"ID": "fedora", "PRETTY_NAME": "Fedora Linux 43"},
    "rocky": {"ID": "rocky", "ID_LIKE": "rhel centos fedora", "PRETTY_NAME": "Rocky Linux 9.4"},
    "alpine": {"ID": "alpine", "PRETTY_NAME": "Alpine Linux v3.22"},
    "arch": {"ID": "arch", "PRETTY_NAME": "Arch Linux"},
    "none": {},
}
PLATFORMS = {name: platform_of(release) for name, release in RELEASES.items()}
NGINX = SystemPackages(apt=("nginx-light",), dnf=("nginx-core", "nginx-mimetypes"), apk=("nginx",))


@pytest.mark.parametrize(
    ("name", "program"),
    [
        *(("debian", "apt-get"), ("ubuntu", "apt-get"), ("mint", "apt-get")),
        *(("fedora", "dnf"), ("rocky", "dnf"), ("alpine", "apk"), ("arch", ""), ("none", "")),
    ],
)
def test_the_distribution_says_which_package_manager(name, program):
    manager = PLATFORMS[name].manager
    assert (manager.program if manager else "") == program


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("ubuntu", "apt-get install -y --no-install-recommends nginx-light"),
        ("fedora", "dnf install -y --setopt=install_weak_deps=False nginx-core nginx-mimetypes"),
        ("alpine", "apk add nginx"),
        ("arch", ""),
    ],
)
def test_the_same_server_has_other_packages_and_another_command(name, command):
    here = PLATFORMS[name]
    item = here.missing_item("nginx", "no program nginx", NGINX)
    assert " ".join(here.command(item.packages)) == command
    assert bool(item.elsewhere) == (not command)


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("fedora", "race it in the container image (docs/installing.md)"),
        ("arch", "install with Arch Linux's own package manager what Debian calls: apache2"),
    ],
)
def test_a_server_without_a_known_package_has_a_way_out(name, way_out):
    item = PLATFORMS[name].missing_item("apache", "no program apache2", SystemPackages(apt=("apache2",)))
    assert (item.state, item.install, item.elsewhere) == ("not installed", "", way_out)


def test_what_no_system_has_is_got_from_where_its_makers_say():
    for here in PLATFORMS.values():
        assert here.missing_item("own", "no program own", SystemPackages(), "build it").elsewhere == "build it"


def test_a_server_of_the_users_own_without_packages_has_no_way_out_of_ours():
    assert PLATFORMS["debian"].missing_item("own", "no program own", SystemPackages()).elsewhere == ""


def test_what_has_packages_elsewhere_has_some_in_debian():
    known = [*(entry.needs for entry in catalogue()), *services().values()]
    assert all(needs.apt for needs in known if needs.dnf or needs.apk)


@pytest.mark.parametrize(("kernel", "title"), [("darwin", "macOS"), ("win32", "Windows")])
def test_without_linux_nothing_is_raced_and_a_sentence_says_where(kernel, title):
    with pytest.raises(InputError, match=f"run needs Linux, and this is {title}: run it in a container"):
        require_linux("run", Platform(kernel=kernel, title=title))
    require_linux("run", PLATFORMS["arch"])
