"""A cache that the stack declares is what is raced; a hidden one invalidates."""

from dataclasses import replace

import pytest
from tests.core.validity.healthy import counts, healthy, result, stack_of

from stackrace.report.words import findings as say
from stackrace.validity.registry import examine

REMEMBERED = {"cached_answers": 19_000, "nonces_lost": 19_000, "stale_dates": 19_000}


def findings(**settings):
    seen = healthy(stack=stack_of("varnish", **settings), result=result(counts=counts(), **REMEMBERED))
    return {say.title(finding) for finding in examine(seen).findings}


def test_a_declared_cache_is_no_finding():
    assert not findings(cache=True) & {"cached answers", "nonces lost", "stale dates"}


@pytest.mark.parametrize("settings", [{"cache": False}, {}])
def test_a_hidden_one_is(settings):
    assert {"cached answers", "nonces lost", "stale dates"} <= findings(**settings)


def test_a_server_that_is_not_ours_declares_nothing():
    seen = replace(healthy(result=result(**REMEMBERED)), stack=None)
    assert "cached answers" in {say.title(finding) for finding in examine(seen).findings}
