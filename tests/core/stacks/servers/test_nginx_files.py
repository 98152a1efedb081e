"""A configuration of the user's nginx is raced as it is, but for what is decided for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stackrace.base.errors import LaunchError, StackError
from stackrace.stacks.native_files import Concern, NativeFile
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

NGINX = catalogue().server("nginx")

WHOLE = """user www-data;
worker_processes 4;
pid /run/nginx.pid;
load_module modules/ngx_http_brotli.so;
events { worker_connections 2048; multi_accept on; }
http {
    include /etc/nginx/mime.types;
    log_format main '$remote_addr "$request"';
    access_log /var/log/nginx/access.log main;
    keepalive_timeout 20s;
    gzip on;
    brotli on;
    limit_req_zone $binary_remote_addr zone=one:10m rate=5r/s;
    proxy_cache_path /var/cache keys_zone=c:10m;
    upstream shop { least_conn; server 10.0.0.1:8000 max_fails=3; server 10.0.0.2:8000; keepalive 16; }
    upstream chat { server chat:9000; }
    server { listen 80; server_name shop.example; return 301 https://$host$request_uri; }
    server {
        listen 443 ssl http2;
        server_name shop.example;
        ssl_certificate /etc/ssl/shop.pem;
        if ($host != shop.example) { return 444; }
        client_max_body_size 20m;
        location /static/ { alias /srv/shop/assets/; expires 30d; }
        location /media/ { alias /srv/shop/nowhere/; }
        location /ws/ { proxy_pass http://chat; }
        location /api/ {
            limit_req zone=one; proxy_cache c; proxy_pass http://shop/api/; proxy_set_header Host $host;
        }
        location / {
            proxy_pass http://shop;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host shop.example;
            proxy_set_header X-Forwarded-Proto $scheme;
        }
    }
}
"""


def own_file(text, folder):
    (folder / "assets").mkdir(exist_ok=True)
    path = folder / "deploy" / "nginx.conf"
    path.parent.mkdir(exist_ok=True)
    reading = NGINX.spec.native.read(text, path, folder)
    return NativeFile(path=path, text=text, reading=reading, folder=folder)


@pytest.fixture
def site(make_site, next_hop, tmp_path):
    (tmp_path / "run").mkdir()
    made = make_site("nginx", directory=tmp_path / "run", upstream=next_hop("http", instances=2))
    return replace(made, app=replace(made.app, static={}))


def config_of(site, text, folder):
    return NGINX.recipe(replace(site, file=own_file(text, folder))).files["nginx.conf"]


def test_all_of_it_stays_but_what_is_decided(site, tmp_path):
    text = config_of(site, WHOLE, tmp_path)
    for stays in (
        "worker_processes 4;", "worker_connections 2048;", "multi_accept on;", "keepalive_timeout 20s;", "gzip on;",
        "least_conn;", "keepalive 16;", "client_max_body_size 20m;", "expires 30d;", "proxy_pass http://shop/api/;",
        f"alias {tmp_path}/assets/;", "proxy_set_header Host $host;",
    ):  # fmt: skip
        assert stays in text, stays
    for goes in (
        "www-data", "pid /run/nginx.pid", "load_module", "log_format", "/var/log", "brotli", "limit_req",
        "proxy_cache",
        "10.0.0.1", "chat", "301", "443", "ssl", "444", "shop.example", "/media/", "/ws/",
    ):  # fmt: skip
        assert goes not in text, goes
    assert "server unix:/srv/next0/socket max_fails=3;" in text
    assert "proxy_set_header X-Forwarded-Proto $client_scheme;" in text


def test_nginx_itself_takes_it(site, tmp_path, assert_checks):
    site = replace(site, file=own_file(WHOLE, tmp_path))
    assert_checks(site, NGINX.recipe(site))


def test_what_was_changed_and_what_is_missing_is_said_by_line(tmp_path):
    reading = own_file(WHOLE, tmp_path).reading
    changed = {(change.line, change.key): change.concern for change in reading.changes}
    assert changed[1, "user"] is Concern.USER
    assert changed[3, "pid"] is Concern.PATHS
    assert changed[9, "access_log"] is Concern.LOGS
    assert changed[19, "listen"] is changed[17, "server"] is Concern.ADDRESS
    left = {gap.line: gap.why for gap in reading.omissions}
    assert "module" in left[12]
    assert "cache" in left[14]
    assert left[16] == "it is another service than the app"
    assert "no folder /srv/shop/nowhere/" in left[25]
    assert "another service" in left[26]


def test_its_settings_are_known(tmp_path):
    reading = own_file(WHOLE, tmp_path).reading
    assert (reading.forwards, reading.target) == ("http", "10.0.0.1:8000")
    assert reading.settings["workers"] == 4
    assert reading.settings["worker_connections"] == 2048
    assert (reading.settings["keep_alive"], reading.settings["gzip"]) == (20, True)
    assert reading.settings["upstream_keep_alive"] is True


SITE = "server { listen 80; location / { include uwsgi_params; uwsgi_pass unix:/run/shop.sock; } }"


def test_a_site_alone_stands_in_the_configuration_of_nginxs_image(site, next_hop, tmp_path, assert_checks):
    site = replace(site, upstream=next_hop("uwsgi"), file=own_file(SITE, tmp_path))
    recipe = NGINX.recipe(site)
    text = recipe.files["nginx.conf"]
    for part in (
        "worker_processes auto;",
        "keepalive_timeout 65;",
        "uwsgi_pass app;",
        "uwsgi_param HTTPS $client_https",
    ):
        assert part in text
    assert_checks(site, recipe)
    assert site.file is not None and site.file.reading.computed == {"workers": "auto"}


def test_a_folder_of_static_files_that_the_app_names_is_served(site, tmp_path):
    site = replace(site, app=replace(site.app, static={"/media/": Path("/srv/there")}))
    assert "alias /srv/there/;" in config_of(site, WHOLE, tmp_path)


def test_files_of_the_project_that_it_includes_are_part_of_it(site, tmp_path):
    own_file(SITE, tmp_path)
    (tmp_path / "deploy" / "conf.d").mkdir()
    (tmp_path / "deploy" / "conf.d" / "site.conf").write_text("server { location / { proxy_pass http://web:80; } }")
    text = "events { } http { include /etc/nginx/conf.d/*.conf; include /etc/nginx/snippets/none.conf; }"
    reading = own_file(text, tmp_path).reading
    assert reading.files == {"deploy/conf.d/site.conf"}
    assert [gap.what for gap in reading.omissions] == ["include /etc/nginx/snippets/none.conf"]
    assert "proxy_pass http://app;" in config_of(site, text, tmp_path)


def test_the_app_answers_what_no_location_is_left_for(site, tmp_path):
    text = "server { location /api/ { proxy_pass http://web:80/; } location / { root /nowhere; } }"
    assert "location / {\n            proxy_pass http://app;" in config_of(site, text, tmp_path)


def test_the_path_says_what_wins_over_the_file(site, tmp_path):
    chosen = replace(
        site, chosen=frozenset({"workers", "gzip"}), settings={**site.settings, "workers": 7, "gzip": False}
    )
    text = config_of(chosen, WHOLE, tmp_path)
    assert "worker_processes 7;" in text and "worker_processes 4;" not in text
    assert "gzip off;" in text and "gzip on;" not in text
    with pytest.raises(LaunchError, match="buffering= cannot be given"):
        config_of(replace(site, chosen=frozenset({"buffering"})), WHOLE, tmp_path)


WRONG = {
    "server { location / { proxy_pass http://a; }": "line 1: unexpected end of file",
    "server { location / { return 200; } }": "no server in it forwards to an app",
    "server { location / { proxy_pass http://{{ host }}; } }": "line 1: it is a template",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_nginx_could_not_read_is_said(tmp_path, text):
    with pytest.raises(ValueError, match=WRONG[text]):
        own_file(text, tmp_path)


def test_a_path_in_another_protocol_than_the_file_is_refused(tmp_path):
    (tmp_path / "nginx.conf").write_text(SITE)

    def parsed(path):
        return parse_stack(path, catalogue().specs, frozenset(Interface), tmp_path)

    assert parsed("nginx:config=nginx.conf/uwsgi/uwsgi").hops[0].file is not None
    for wrong in ("nginx:config=nginx.conf/http/gunicorn", "nginx:config=nginx.conf"):
        with pytest.raises(StackError, match=r"forwards by uwsgi; write nginx:config=nginx\.conf/uwsgi/SERVER"):
            parsed(wrong)
