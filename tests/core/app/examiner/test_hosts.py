from django.http.request import validate_host
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.examiner.django_facts import _LOOPBACK, choose_host

labels = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True)
domains = st.lists(labels, min_size=1, max_size=3).map(".".join)
patterns = st.one_of(domains, domains.map(lambda domain: f".{domain}"), st.sampled_from([*_LOOPBACK, "*"]))


@given(st.lists(patterns, min_size=1, max_size=4))
def test_django_accepts_the_chosen_host(allowed):
    assert validate_host(choose_host(allowed), allowed)


def test_loopback_is_preferred_where_it_may_be():
    assert choose_host(["shop.example.com", "localhost"]) == "localhost"
    assert choose_host(["shop.example.com", "*"]) == "127.0.0.1"
    assert choose_host([]) == "127.0.0.1"
    assert choose_host([".example.com"]) == "example.com"
