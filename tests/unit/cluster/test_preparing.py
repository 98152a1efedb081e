"""What hosts say once they have prepared a race: what they lack, and whether they are alike."""

from types import SimpleNamespace

import pytest

from stackrace.base.errors import AppError, InputError
from stackrace.base.process import Background
from stackrace.features.cluster.preparing import _opened, _refuse_unlike
from stackrace.measure.workload import Answer, Request, Sameness


def failing():
    raise AppError("host-1: app:application: importing it failed: KeyError: 'KEY'")


def test_an_app_that_fails_on_a_host_is_told_with_what_stayed_here():
    needs = SimpleNamespace(ignored=(".env", "media/", *(f"{number}.log" for number in range(9))))
    with pytest.raises(AppError) as caught:
        _opened(Background(failing), needs)
    assert "git ignores .env, media/, 0.log, 1.log, 2.log and 6 more, which the hosts did not get" in (
        caught.value.message
    )


@pytest.mark.parametrize("needs", [None, SimpleNamespace(ignored=())])
def test_where_all_was_there_nothing_is_added(needs):
    with pytest.raises(AppError) as caught:
        _opened(Background(failing), needs)
    assert caught.value.message.endswith("KeyError: 'KEY'")


def hosted(place, body):
    answer = Answer(status=200, body=body, content_type="text/plain", sameness=Sameness.BODY)
    workload = SimpleNamespace(name="", requests=(Request(path="/"),), answers=(answer,))
    cores = SimpleNamespace(stack_cores=(0,))
    return SimpleNamespace(place=place, plan=SimpleNamespace(stacks=(), workloads=(workload,), cores=cores))


def test_an_answer_may_show_where_the_app_lies():
    one = hosted("/var/cache/x", b"I am /var/cache/x/srv/app.py")
    other = hosted("/home/me/.cache/x", b"I am /home/me/.cache/x/srv/app.py")
    _refuse_unlike({"host-1": one, "host-2": other, "host-3": hosted("", b"I am /srv/app.py")})
    with pytest.raises(InputError, match="host-1 and host-2 differ in the right answers"):
        _refuse_unlike({"host-1": one, "host-2": hosted("/home/me/.cache/x", b"I am another")})
