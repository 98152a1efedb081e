"""Before a stack is blamed the app itself is asked again; the apps here are lists of what they answer."""

from dataclasses import replace

import pytest

from stackrace.app.examination import Exchange, Reply
from stackrace.base.errors import AppError
from stackrace.deploy import wrong_answers
from stackrace.deploy.wrong_answers import KnownAnswers
from stackrace.measure.workload import Answer, AnswerOrigin, Request, Sameness, Workload

PAGE = Request(path="/page/")
OTHER = Request(path="/other/")


def workload(**answer):
    golden = Answer(status=200, body=b"hello", content_type="", sameness=Sameness.BODY)
    return Workload(requests=(OTHER, PAGE), answers=(golden, replace(golden, **answer)))


class App:
    """Answers a page with the next of ``bodies``; remembers for what it was asked."""

    def __init__(self, *bodies, status=200):
        self._replies = [Reply(status=status, headers=(), body=body) for body in bodies]
        self.asked = []

    def __call__(self, requests):
        self.asked += [request.path for request in requests]
        return [Exchange(request=request, first=self._replies[0], second=self._replies[-1]) for request in requests]


@pytest.mark.parametrize(
    ("bodies", "sameness"),
    [
        ([b"hello", b"jello"], Sameness.LENGTH),
        ([b"jello", b"jello"], Sameness.LENGTH),
        ([b"hello", b"hello!"], Sameness.STATUS),
    ],
)
def test_a_page_that_changes_in_the_app_itself_is_held_to_less(bodies, sameness):
    app, race = App(*bodies), workload()
    known = KnownAnswers(app)
    assert known.now(race) is race
    assert known.doubt(race, [PAGE]) == {"GET /page/"}
    assert [answer.sameness for answer in known.now(race).answers] == [Sameness.BODY, sameness]
    assert (app.asked, known.pages(race)) == (["/page/"], ("GET /page/",))


def test_a_counter_that_grows_is_held_to_all_but_its_number():
    race = workload(body=b"<p>visitor 999</p>")
    known = KnownAnswers(App(b"<p>visitor 123</p>", b"<p>visitor 124</p>"))
    assert known.doubt(race, [PAGE])
    assert known.now(race).answers[1].parts == (b"<p>visitor ", b"</p>")


def test_an_app_that_says_the_same_again_is_believed():
    known, race = KnownAnswers(App(b"hello", b"hello")), workload()
    assert not known.doubt(race, [PAGE])
    assert known.now(race) is race


@pytest.mark.parametrize("origin", [AnswerOrigin.FILE, AnswerOrigin.RECORDING, AnswerOrigin.USER])
def test_what_the_app_did_not_say_is_not_asked_for(origin):
    app = App(b"jello")
    assert not KnownAnswers(app).doubt(workload(origin=origin), [PAGE])
    assert not app.asked


def test_the_app_is_not_asked_for_ever():
    app, race = App(b"hello"), workload()
    known = KnownAnswers(app)
    for _ in range(9):
        known.doubt(race, [PAGE])
    assert len(app.asked) == wrong_answers.MOST_DOUBTS


def test_an_app_that_fails_or_is_not_there_clears_nobody():
    def fails(requests):
        raise AppError("it died")

    for ask in (None, fails, App(b"jello", status=500)):
        assert not KnownAnswers(ask).doubt(workload(), [PAGE])
