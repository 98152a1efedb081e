"""Before a stack is blamed the app itself is asked again; then what differs is said, why, and what to do."""

from dataclasses import replace

import pytest

from stackrace.app.examination import Exchange
from stackrace.app.examiner.messages import Reply as AppReply
from stackrace.base.errors import AppError
from stackrace.deploy import wrong_answers
from stackrace.deploy.wrong_answers import KnownAnswers, _under_load, accusation
from stackrace.measure.engine.visitor import Reply
from stackrace.measure.workload import Answer, AnswerOrigin, Request, Sameness, Workload

TOKEN = b"<html>" + b"<p>shop</p>" * 9 + b'<input name="csrfmiddlewaretoken" value="%s"></html>'


def golden(status=200, body=b"", sameness=Sameness.STATUS, origin=AnswerOrigin.APP):
    return Answer(status=status, body=body, content_type="", sameness=sameness, origin=origin)


def test_a_token_is_named_with_what_to_write():
    said = accusation(
        Request(path="/form/"), Reply(200, TOKEN % b"xyz"), golden(200, TOKEN % b"abc", Sameness.BODY)
    )
    assert "differs from the app's own" in said
    assert "it has a CSRF token of its own in each answer" in said
    assert 'check = { "/form/" = "status" }' in said


def test_a_page_whose_difference_nobody_recognises_is_shown_from_there_on():
    right = golden(body=b"<p>right</p>", sameness=Sameness.BODY)
    said = accusation(Request(path="/"), Reply(200, b"<p>quite wrong</p>"), right)
    assert said.endswith("from byte 3 on '<p>quite wrong</p>' where the app has '<p>right</p>'")


def test_a_file_that_the_app_does_not_have_is_no_answer_of_the_app():
    said = accusation(Request(path="/static/a.css"), Reply(404, b""), golden(origin=AnswerOrigin.FILE))
    assert "the app itself does not have this static file" in said
    assert "the app itself answers" not in said
    assert "front end" in said


@pytest.mark.parametrize(
    ("status", "body"), [(403, b""), (400, b"The CSRF token is missing."), (422, b"Authenticity")]
)
def test_a_refused_form_names_csrf_with_what_to_do(status, body):
    recorded = golden(302, origin=AnswerOrigin.RECORDING)
    said = accusation(Request(path="/login/", method="POST"), Reply(status, body), recorded)
    assert f"status {status} where the recording has 302" in said
    assert "CSRF token is refused" in said
    assert "HAR file must hold that page" in said


def test_other_statuses_are_said_plainly():
    assert accusation(Request(path="/"), Reply(503, b""), golden()) == "status 503 where the app itself answers 200"
    post = Request(path="/", method="POST")
    assert "CSRF" not in accusation(post, Reply(400, b"bad"), golden(200, origin=AnswerOrigin.RECORDING))
    assert "CSRF" not in accusation(Request(path="/"), Reply(403, b""), golden())


def test_debug_mode_is_named_before_all_that_always_differs():
    page = b"<html>%s<input name=csrfmiddlewaretoken value=%s></html>"
    right, wrong = page % (b"<script src=live.js></script>", b"abcdefghijkl"), page % (b"", b"mnopqrstuvwx")
    said = accusation(Request(path="/"), Reply(200, wrong), golden(body=right), debug=True)
    assert 0 < said.index("DEBUG = False") < said.index("or it has a CSRF token")


def test_a_toolbar_is_named_in_place_of_debug_mode():
    right = b"<html><div id=djDebug>1</div></html>"
    said = accusation(Request(path="/"), Reply(200, b"<html></html>"), golden(body=right), debug=True)
    assert "toolbar" in said and "DEBUG = False" not in said


PAGES = {
    "GET /a": golden(body=b"<p>the first page of all</p>", sameness=Sameness.BODY),
    "GET /b": golden(body=b"<p>another page</p>", sameness=Sameness.BODY),
}


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b"<p>another page</p>", "it got the answer to GET /b"),
        (200, b"<p>the first", "its answer is cut off after 12 of 28 bytes"),
        (200, b"", "its answer is cut off after 0 of 28 bytes"),
        (
            200,
            b"<p>the first page of few</p>",
            "from byte 21 on 'rst page of few</p>' where the app has 'rst page of all</p>'",
        ),
        (503, b"no worker left", "status 503 where the app itself answers 200: 'no worker left'"),
        (500, b"", "status 500 where the app itself answers 200"),
    ],
)
def test_a_wrong_answer_under_load_is_named(status, body, said):
    assert said in _under_load("GET /a", Reply(status, body), PAGES["GET /a"], PAGES)


PAGE = Request(path="/page/")
OTHER = Request(path="/other/")


def workload(**answer):
    golden = Answer(status=200, body=b"hello", content_type="", sameness=Sameness.BODY)
    return Workload(requests=(OTHER, PAGE), answers=(golden, replace(golden, **answer)))


class App:
    """Answers a page with the next of ``bodies``; remembers for what it was asked."""

    def __init__(self, *bodies, status=200):
        self._replies = [AppReply(status=status, headers=(), body=body) for body in bodies]
        self.asked = []

    def __call__(self, requests):
        self.asked += [request.path for request in requests]
        return [Exchange(request=request, first=self._replies[0], second=self._replies[-1]) for request in requests]


@pytest.mark.parametrize(
    ("bodies", "sameness"),
    [
        ([b"hello", b"jello"], Sameness.LENGTH),
        ([b"jello", b"jello"], Sameness.LENGTH),
        ([b"hello", b"hello!"], Sameness.SIZE),
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


def test_pages_of_another_version_are_searched_for_until_they_change():
    app, race = App(b"hello", b"jello"), workload()
    known = KnownAnswers(app)
    known.search(race, ["GET /page/", "GET /elsewhere/"])
    assert (app.asked, known.pages(race)) == (["/page/"], ("GET /page/",))
    constant = App(b"hello", b"hello")
    known = KnownAnswers(constant)
    known.search(race, ["GET /page/"])
    assert (constant.asked, known.pages(race)) == (["/page/"] * 4, ())
    assert known.doubt(race, [PAGE]) == frozenset()
    assert len(constant.asked) == 5


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
    assert len(app.asked) == wrong_answers._MOST_DOUBTS


def test_an_app_that_fails_or_is_not_there_clears_nobody():
    def fails(requests):
        raise AppError("it died")

    for ask in (None, fails, App(b"jello", status=500)):
        assert not KnownAnswers(ask).doubt(workload(), [PAGE])
