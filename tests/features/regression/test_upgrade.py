"""A check of a commit that upgrades a server, as Dependabot and Renovate make them, with real packages."""

import pytest

from stackrace.app.app import EntryKind, entry_of
from stackrace.features.regression.check_preparation import ready_check
from stackrace.features.regression.model import gate_of
from stackrace.features.regression.variants import VariantRequest
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.stack import Side

APP = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""
NOTHING = {Side.BASE: VariantRequest(), Side.HEAD: VariantRequest()}
UPGRADE = ("gunicorn 23.0.0 → 25.0.3",)


@pytest.fixture
def facts(work, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def prepared(own=NOTHING, base="HEAD", stack="nginx/http/gunicorn"):
        entry = entry_of(EntryKind.WSGI, "page:application")
        request = RaceRequest(folder=work.folder, entry=entry, stacks=(stack,), urls=("/",), budget_s=60.0)
        with ready_check(request, own, base=base, allowances={}, store=None) as ready:
            return gate_of(ready.plan.race)

    return prepared


@pytest.mark.exhaustive
def test_a_commit_that_upgrades_a_server_is_a_server_upgrade_and_no_other_is(work, facts):
    work.commit(page_py=APP, requirements_txt="gunicorn==23.0.0\n")
    work.write("requirements.txt", "gunicorn==25.0.3\n")
    found = facts()
    assert found.upgraded == found.packages == UPGRADE
    assert [side.versions["gunicorn"] for side in (found.base, found.head)] == ["23.0.0", "25.0.3"]
    assert found.base.versions["nginx"] and found.base.versions["python"] == found.base.python

    work.write("requirements.txt", "gunicorn==25.0.3\nsix\n")
    assert facts().upgraded == ()

    own = {
        side: VariantRequest(stack=f"gunicorn@{v}") for side, v in ((Side.BASE, "23.0.0"), (Side.HEAD, "25.0.3"))
    }
    found = facts(own, base=None)
    assert found.upgraded == UPGRADE and found.packages == ()
    own[Side.HEAD] = VariantRequest(stack="gunicorn@25.0.3:workers=3")
    assert facts(own, base=None).upgraded == ()
