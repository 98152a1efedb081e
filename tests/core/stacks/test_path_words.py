"""How a path is split, and how what it holds is quoted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base.errors import StackError
from stackrace.stacks.path_words import HopWords, hops_of, quoted

printable = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1)
values = printable.filter(lambda text: "'" not in text or '"' not in text)


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("gunicorn:--worker-tmp-dir=/dev/shm", (("--worker-tmp-dir", "/dev/shm"),)),
        ("gunicorn:config=deploy/gunicorn.conf.py", (("config", "deploy/gunicorn.conf.py"),)),
        ("gunicorn:--reuse-port,workers=4", (("--reuse-port", None), ("workers", "4"))),
        ('gunicorn:--name="a,b+c/http/d",workers=4', (("--name", "a,b+c/http/d"), ("workers", "4"))),
        ("gunicorn:--name='say \"x\"'", (("--name", 'say "x"'),)),
        ("gunicorn:--env=A=B", (("--env", "A=B"),)),
    ],
)
def test_a_value_in_a_servers_own_language_may_hold_what_settings_may_not(path, settings):
    assert hops_of(path) == [HopWords("http", "gunicorn", settings)]


def test_such_a_value_ends_where_the_next_hop_begins():
    nginx, apache, guest = hops_of("nginx:--client_body_timeout=5/http/apache:--a=/x/y+mod_wsgi:threads=2")
    assert nginx.settings == (("--client_body_timeout", "5"),)
    assert apache == HopWords("http", "apache", (("--a", "/x/y"),))
    assert guest == HopWords(None, "mod_wsgi", (("threads", "2"),))


@pytest.mark.parametrize("path", ["gunicorn:--name='a", "gunicorn:--name='a'b"])
def test_quotes_stand_around_a_whole_value(path):
    with pytest.raises(StackError, match="put ' before and after the value of --name"):
        hops_of(path)


@pytest.mark.parametrize("letter", ["\n", "\0", "\x1b", "\u2028"])
def test_a_path_holds_no_control_characters(letter):
    with pytest.raises(StackError, match="control character"):
        hops_of(f"gunicorn:--name=a{letter}b")


@given(values, values)
def test_whatever_is_quoted_is_read_back(first, second):
    path = f"nginx:--a={quoted(first)},--b={quoted(second)}/http/apache+mod_wsgi"
    nginx, apache, _ = hops_of(path)
    assert nginx.settings == (("--a", first), ("--b", second))
    assert apache.server == "apache"
