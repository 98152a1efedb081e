"""Names with several addresses, and ways through proxies."""

import pytest

from stackrace.base.verdict import Effect
from stackrace.report.words import findings as say
from stackrace.validity.preflight import Destination, address

LOCALHOST = Destination(name="localhost", dialled="127.0.0.1")


def test_one_address_and_no_proxy_is_no_finding():
    assert address(LOCALHOST) is None


@pytest.mark.parametrize(
    ("seen", "effect", "way_out"),
    [
        (
            Destination(name="localhost", dialled="127.0.0.1", others=("::1",)),
            Effect.WARNS,
            "name the address you mean: 127.0.0.1 or [::1]",
        ),
        (
            Destination(name="localhost", dialled="127.0.0.1", answers=False, others=("::1",)),
            Effect.INVALIDATES,
            "name it: [::1]",
        ),
        (
            Destination(name="a.example", dialled="127.0.0.1", proxies={"http_proxy": "http://10.0.0.1:3128"}),
            Effect.WARNS,
            "unset http_proxy, or add a.example to no_proxy",
        ),
    ],
)
def test_another_way_is_told_with_the_way_out(seen: Destination, effect: Effect, way_out: str):
    finding = address(seen)
    assert finding is not None
    assert finding.effect is effect
    assert way_out in say.remedy(finding)
