"""A front end whose file is not read is raced as the catalogue has it, or named as missing: never forgotten."""

import pytest

from stackrace.stacks.stack_path import parse_stack

from .setups import ANY, SPECS, read, write

COMPOSE = "services:\n  web:\n    build: .\n    command: gunicorn a:b -w 3\n"
POD = """apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec: {template: {spec: {containers: [{name: web, image: x, args: [gunicorn, "a:b", "-w", "3"]}]}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop}
spec: {%s}
"""

FRONTS = {
    "Caddy": ({"Caddyfile": "shop.org {\n  reverse_proxy web:8000\n}\n"}, "caddy/http/", "Caddyfile:2 Caddy"),
    "HAProxy": (
        {"deploy/haproxy.cfg": "frontend f\n  bind :80\nbackend b\n  server s web:8000\n"},
        "haproxy/http/", "deploy/haproxy.cfg:3 HAProxy"),
    "Apache": (
        {"apache/shop.conf": "<VirtualHost *:80>\n  ProxyPass / http://web:8000/\n</VirtualHost>\n"},
        "apache/http/", "apache/shop.conf:2 Apache httpd"),
    "an image of nginx": ({"compose.yml": COMPOSE + "  proxy: {image: nginx:1}\n"},
                          "nginx/http/", "compose.yml:5 nginx"),
    "labels for Traefik": (
        {"compose.yml": COMPOSE + "    labels:\n      - traefik.enable=true\n"}, "", "compose.yml:6 Traefik"),
    "a location of a template that cannot be read": (
        {"nginx/shop.conf.template": "server {\n  location ${PREFIX}/ {\n    proxy_pass http://web;\n  }\n}\n"},
        "nginx/http/", "nginx/shop.conf.template:2 nginx"),
    "a template of Ansible's": (
        {"roles/nginx.conf.j2": "server {\n  location / { proxy_pass http://{{ app }}; }\n}\n"},
        "nginx/http/", "roles/nginx.conf.j2:2 nginx"),
}  # fmt: skip


@pytest.mark.parametrize("case", FRONTS)
def test_a_front_end_that_is_not_read_is_raced_as_the_catalogue_has_it(tmp_path, case):
    files, before, said = FRONTS[case]
    found = read(tmp_path, {"Dockerfile": "FROM x\n", "compose.yml": COMPOSE, **files})
    assert found.stack == f"{before}gunicorn:workers=3"
    (gap,) = found.gaps
    assert f"{gap.file}:{gap.line} {gap.what}" == said
    assert gap.weight == ("assumed" if before else "plain")
    assert parse_stack(found.stack, SPECS, ANY, tmp_path)


@pytest.mark.parametrize(
    ("spec", "before"), [("ingressClassName: nginx", "nginx/http/"), ("ingressClassName: kong", "")]
)
def test_an_ingress_is_raced_as_the_server_that_it_is(tmp_path, spec, before):
    found = read(tmp_path, {"k8s/shop.yml": POD % spec})
    assert found.stack == f"{before}gunicorn:workers=3"
    assert [(gap.file, gap.what) for gap in found.gaps] == [("k8s/shop.yml", "nginx" if before else "Ingress")]


HOSTS = {
    "daemons": ("WSGIDaemonProcess shop processes=4 threads=7 python-home=/srv/v", ":processes=4,threads=7"),
    "a daemon": ("WSGIDaemonProcess shop", ":processes=1,threads=15"),
    "processes of Apache's own": ("ServerName shop.org", ":mode=embedded"),
}


@pytest.mark.parametrize("case", HOSTS)
def test_a_host_of_apaches_that_serves_the_app_itself_is_the_server(tmp_path, case):
    words, expected = HOSTS[case]
    host = f"<VirtualHost *:80>\n  {words}\n  WSGIScriptAlias / /srv/shop/shop/wsgi.py\n</VirtualHost>\n"
    found = read(tmp_path, {"apache/shop.conf": host, "nginx.conf": SITE})
    assert (found.stack, found.location) == (f"apache+mod_wsgi{expected}", "apache/shop.conf:3")
    assert not found.gaps
    assert parse_stack(found.stack, SPECS, ANY, tmp_path)


def test_a_host_of_apaches_is_known_by_what_it_says_wherever_it_lies(tmp_path):
    file = tmp_path / "roles/app/templates/sites-available/v2/shop.conf"
    host = "ServerName {{ host }}\nWSGIDaemonProcess shop processes=4\nWSGIScriptAlias / /srv/shop/wsgi.py\n"
    write(tmp_path, {str(file.relative_to(tmp_path)): host})
    assert read(tmp_path, {}, file).stack == "apache+mod_wsgi:processes=4,threads=15"


SITE = "server { location / { proxy_pass http://127.0.0.1:8000; } }\n"
