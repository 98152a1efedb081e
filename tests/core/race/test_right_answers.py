"""``check`` and ``--check``: what a right answer is."""

import pytest

from stackrace.base.errors import InputError, SpecError
from stackrace.measure.workload import Likeness, RightAnswer
from stackrace.race.request.expectations import read_check_flags

STATUS = RightAnswer(likeness=Likeness.STATUS)
CART = RightAnswer(likeness=Likeness.CONTAINS, text="Your cart")


@pytest.mark.parametrize(
    ("written", "rules"),
    [
        ('"status"', {"*": STATUS}),
        ('{ contains = "Your cart" }', {"*": CART}),
        ('{ "/" = "status", "*" = { contains = "Your cart" } }', {"/": STATUS, "*": CART}),
        ('{ "/cart/?a=b c" = "length" }', None),
    ],
)
def test_a_rule_is_for_all_pages_or_for_one(read, written, rules):
    text = f'[workload]\nurls = ["/", "/cart/"]\ncheck = {written}\n'
    if rules is None:
        with pytest.raises(SpecError, match=r"line 3: workload.check: '/cart/\?a=b c' is not among its urls"):
            read(text)
    else:
        assert read(text).check == rules
        assert read(text.replace("[workload]", "[workloads.shop]")).workloads[0].check == rules


@pytest.mark.parametrize(
    "written", ['"body"', "3", "true", "[]", "{}", "{ contains = 3 }", '{ contains = "" }', '{ "x" = "status" }',
                '{ "/" = "Your cart" }', '{ "/" = { contains = "a", also = "b" } }'],
)  # fmt: skip
def test_what_is_no_rule_is_refused_with_one_to_write(read, written):
    with pytest.raises(SpecError, match=r'line 3: workload.check: .*write "status", "length", "exact" or'):
        read(f'[workload]\nurls = ["/"]\ncheck = {written}\n')


@pytest.mark.parametrize(
    ("written", "found"), [("true", "true is no check"), ('{ "/" = ["status"] }', r'/ = \["status"\] is no check')]
)
def test_what_is_no_rule_is_named(read, written, found):
    with pytest.raises(SpecError, match=f"workload.check: {found}"):
        read(f'[workload]\nurls = ["/"]\ncheck = {written}\n')


def test_a_mistyped_path_is_answered_with_the_nearest(read):
    with pytest.raises(SpecError, match=r"did you mean /news/\?"):
        read('[workload]\nurls = ["/news/"]\ncheck = { "/nwes/" = "status" }\n')


def test_flags_say_the_same():
    assert read_check_flags(["status"]) == {"*": STATUS}
    assert read_check_flags(["/ status", "/cart/?a=1 contains:Your cart"]) == {"/": STATUS, "/cart/?a=1": CART}


@pytest.mark.parametrize("text", ["", "body", "/news/", "/news/ body", "contains:", "/ contains:", "news status"])
def test_a_flag_that_is_no_rule_is_refused_with_one_to_write(text):
    with pytest.raises(InputError, match=r"--check .* write status, length, exact or contains:TEXT"):
        read_check_flags([text])


def test_two_rules_for_a_page_are_refused():
    with pytest.raises(InputError, match="second rule for all paths"):
        read_check_flags(["status", "length"])
