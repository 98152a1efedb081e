"""Right answers as the user demands them, held against the app's own."""

import pytest

from stackrace.app.golden import demanded, rule_for
from stackrace.base.errors import InputError
from stackrace.measure.workload import Answer, Likeness, RightAnswer, Sameness

ANSWER = Answer(status=200, body=b"one", content_type="text/html; charset=iso-8859-1", sameness=Sameness.LENGTH)


def right(likeness, *bodies, text=""):
    return demanded(ANSWER, RightAnswer(likeness=Likeness(likeness), text=text), "/x", bodies)


def test_each_rule_is_one_sameness():
    assert right("status", b"one", b"another").sameness is Sameness.STATUS
    assert right("length", b"one", b"two").sameness is Sameness.LENGTH
    assert right("exact", b"one", b"one").sameness is Sameness.BODY
    answer = right("contains", b"<p>one</p>", b"one", text="one")
    assert (answer.sameness, answer.parts) == (Sameness.PARTS, (b"", b"one", b""))


def test_a_text_is_looked_for_in_the_page_s_own_charset():
    assert right("contains", "caf\u00e9".encode("latin-1"), text="caf\u00e9").parts[1] == b"caf\xe9"


@pytest.mark.parametrize(
    ("likeness", "bodies", "said"),
    [
        ("length", [b"one", b"three"], "3 and 5 bytes"),
        ("exact", [b"one", b"two"], "not exactly alike"),
        ("contains", [b"one", b"two"], "does not contain 'one'"),
        ("exact", [], "nothing is known of its body"),
    ],
)
def test_a_rule_that_the_app_itself_breaks_is_refused_with_the_way_out(likeness, bodies, said):
    with pytest.raises(InputError, match=said) as refused:
        right(likeness, *bodies, text="one")
    assert "check of /x" in refused.value.message


def test_a_page_s_own_rule_comes_first():
    one, two = RightAnswer(likeness=Likeness.STATUS), RightAnswer(likeness=Likeness.EXACT)
    assert rule_for({"/": one, "*": two}, "/") is one
    assert rule_for({"/": one, "*": two}, "/other") is two
    assert rule_for({"/": one}, "/other", "/") is one
    assert rule_for({"/": one}, "/other") is None


def test_what_changes_in_a_page_that_is_to_be_exact_is_named():
    page = b"<p>shop</p>" * 5 + b'<input name="csrfmiddlewaretoken" value="%s">'
    with pytest.raises(InputError, match="it has a CSRF token of its own"):
        right("exact", page % b"abc", page % b"xyz")
