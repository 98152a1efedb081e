"""A published race tells neither where files lie nor who raced."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.factories import make_race

from stackrace.base.codec import encode
from stackrace.features.publish.exchange import Anonymizer
from stackrace.measure.launch import Failure, FailureKind, StackFacts

DISCRETION = Anonymizer(Path("/home/ana"), "ana")

TEXTS = {
    "The app runs with /srv/shop/.venv/bin/python (active).": "The app runs with …/python (active).",
    "ROOT = '/home/ana/shop'": "ROOT = '…/shop'",
    'File "/home/ana/shop/views.py", line 3': 'File "…/views.py", line 3',
    "alias /srv/shop/static/;": "alias …/static;",
    "unix:/tmp/stackrace-0a1b2c3d/l1/0.sock": "unix:…/0.sock",
    "gunicorn:config=/home/ana/gunicorn.conf.py": "gunicorn:config=…/gunicorn.conf.py",
    "/home/bob": "~",
    "PermissionError: /root/notes": "PermissionError: …/notes",
    "file:///home/ana/browse.har": "file:…/browse.har",
    "/very/private/place": "…/place",
    "owner ana": "owner USER",
}

KEPT = [
    "nginx/uwsgi/uwsgi:processes=4",
    "GET /items/a/b/c: status 301",
    "location /static/ {",
    "http://127.0.0.1:8000/a/b/c/d",
    "https://nginx.org/en/docs/http/x",
    "/usr/lib/python3/dist-packages/flup.py",
    "RUN/0/nginx.conf",
    "/dev/null",
    "banana",
    "application/json",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_file_keeps_its_name_only(text: str) -> None:
    assert DISCRETION.text(text) == TEXTS[text]
    assert DISCRETION.text(TEXTS[text]) == TEXTS[text]


@pytest.mark.parametrize("text", KEPT)
def test_what_is_nobodys_stays(text: str) -> None:
    assert DISCRETION.text(text) == text


def test_a_user_with_a_common_name_is_none() -> None:
    assert Anonymizer(Path("/root"), "root").text("root only") == "root only"


def test_no_member_of_a_race_tells_them() -> None:
    secret = "/home/ana/shop/secret.py, says ana"
    race = make_race()
    launches = tuple(
        replace(each, failure=Failure(kind=FailureKind.DIED, message=secret, log=secret)) for each in race.launches
    )
    facts = (
        StackFacts(stack=race.stacks[0], versions={"x": secret}, configs={secret: secret}, commands=(secret,)),
    )
    urls = ("/home/ana-page/x/y", "file:///home/ana/browse.har")
    race = replace(
        race, facts=facts, launches=launches, notes=(secret,), app=secret, urls=urls, workloads={"w": urls},
        host=replace(race.host, cpu=secret),
    )  # fmt: skip
    told = DISCRETION.race(race)
    document = encode(told)
    text = json.dumps(document)
    assert "/home/ana/" not in text and "/shop" not in text and "says ana" not in text
    assert document["urls"] == ["/home/ana-page/x/y", "file:…/browse.har"]
    assert DISCRETION.race(told) == told


def test_names_and_choices_of_ours_are_no_secrets() -> None:
    """Somebody's password, or his name, may be any word."""
    race = make_race()
    for word in ("latency", "selection", "throughput"):
        assert Anonymizer(Path("/root"), word).race(race) == race


def test_a_password_in_a_url_is_not_published():
    assert Anonymizer().text("no route to amqp://ana:s3cret@mq/") == "no route to amqp://ana:***@mq/"
