"""The machine that an export is for, from what the user wishes."""

from pathlib import Path

import pytest

from stackrace.app.app import App, Entry, EntryKind
from stackrace.base.errors import InputError
from stackrace.features.export.export import refuse_open
from stackrace.features.export.export_target import refuse_proxies, target_of
from stackrace.stacks.servers import catalogue
from stackrace.stacks.stack_path import parse_stack


@pytest.mark.parametrize("name", ["news", "mail", "games", "list", "backup", "proxy", "www-data", "nginx"])
def test_an_app_that_is_called_like_a_user_of_debians_gets_one_of_its_own(name):
    assert target_of(name).user == f"{name}-app"
    assert target_of("shop", base=Path("/srv", name)).name == name


@pytest.mark.parametrize("proxies", [("10.0.0.7", "10.0.0.8"), ("10.0.0.0/24",)])
def test_proxies_of_which_waitress_cannot_be_told_are_refused(proxies):
    target = target_of("shop", proxies=proxies)
    entries = catalogue().entries
    refuse_proxies(entries["nginx"], target)
    with pytest.raises(InputError, match="nginx/http/waitress"):
        refuse_proxies(entries["waitress"], target)


def test_a_file_that_restricts_who_may_ask_is_not_exported_without_that(tmp_path):
    app_at = "proxy_pass http://app:8000;"
    text = f"server {{ listen 80; location / {{ {app_at} }} location /admin/ {{ %s {app_at} }} }}"
    app = App(name="shop", root=tmp_path, entry=Entry(kind=EntryKind.DJANGO, target="shop.settings"))
    for inside, is_refused in (("", False), ("deny all;", True), ("auth_basic staff;", True)):
        (tmp_path / "shop.conf").write_text(text % inside)
        stack = parse_stack("nginx:config=shop.conf/http/gunicorn", catalogue().specs, app.interfaces, tmp_path)
        if is_refused:
            with pytest.raises(InputError, match="restricts who may ask"):
                refuse_open(stack)
        else:
            refuse_open(stack)


def test_an_address_and_a_port_networks_and_addresses_of_proxies_are_taken():
    target = target_of("shop", listen="0.0.0.0:80", proxies=("10.0.0.7", "10.1.0.0/16", "::1", "10.0.0.7/32"))
    assert (target.host, target.port) == ("0.0.0.0", 80)
    assert target.proxies == ("10.0.0.7", "10.1.0.0/16", "::1")


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"user": "www-data"}, "shop-app"),
        ({"listen": "[::]:8000"}, r"\[::\]:8000.*IPv4 only: give 0.0.0.0:8000"),
        ({"listen": ":::8000"}, "IPv4 only"),
        ({"listen": "localhost:8000"}, "such as 127.0.0.1:8000"),
        ({"listen": "shop.example:80"}, "such as 0.0.0.0:80"),
        ({"listen": "8000"}, "ADDRESS:PORT"),
        ({"listen": "0.0.0.0:70000"}, "ADDRESS:PORT"),
        *(
            ({"proxies": (text,)}, "--trusted-proxy")
            for text in ("balancer", "10.0.0.7/8", "*", "10.0.0.7 1; default", "0.0.0.0/0")
        ),
    ],
)
def test_what_nobody_could_use_is_refused(wish, said):
    with pytest.raises(InputError, match=said):
        target_of("shop", **wish)
