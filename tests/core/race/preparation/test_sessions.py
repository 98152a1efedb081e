"""A recording as the workload of a race, held against the answers of an app that is asked here."""

import json
import textwrap
from base64 import b64encode
from types import SimpleNamespace

import pytest

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.examiner import asking
from stackrace.app.examiner.asking import Asking
from stackrace.app.examiner.callers import WsgiCaller
from stackrace.app.examiner.messages import Report, _plain
from stackrace.app.examiner_report import examination_of
from stackrace.base.errors import AppError, InputError
from stackrace.measure.workload import Likeness, Order, Request, RightAnswer, Sameness
from stackrace.race.preparation.sessions import _MOST_ASKED, session_workload
from stackrace.race.preparation.workloads import urls_of, workloads_of
from stackrace.race.request.request import RaceRequest, WorkloadRequest
from stackrace.stacks.setting import Interface

APP = """
    import itertools

    turn = itertools.count()

    def app(environ, start_response):
        path = environ["PATH_INFO"]
        headers, body = [("Content-Type", "text/plain")], b"hello"
        if path == "/turn":
            body = b"x" * next(turn)
        elif path == "/mine":
            headers.append(("Vary", "Cookie"))
        elif path == "/login":
            headers.append(("Set-Cookie", "session=1"))
        elif path == "/host":
            body = environ["HTTP_HOST"].encode()
        start_response("404 Not Found" if path == "/gone" else "200 OK", headers)
        return [body]
"""


@pytest.fixture
def app(tmp_path, monkeypatch):
    """An app to be examined; while it is asked no time passes."""
    still = SimpleNamespace(monotonic=float, perf_counter=float, process_time=float, sleep=lambda seconds: None)
    monkeypatch.setattr(asking, "time", still)
    return App(name="asked", root=tmp_path, entry=entry_of(EntryKind.WSGI, "asked:app"))


def examine(app, requests, *, host=""):
    """What ``apps.examine`` returns for an app that was just loaded, without a process."""
    module = {}
    exec(textwrap.dedent(APP), module)
    messages = [
        {"method": one.method, "path": one.path, "headers": one.headers, "body": b64encode(one.body)}
        for one in requests
    ]
    host = host or "127.0.0.1"
    caller = WsgiCaller(module["app"], 1 << 20)
    exchanges = Asking(caller, host, (), lambda stage: None).all_of(messages, follow=False)
    report = Report(host=host, exchanges=tuple(exchanges))
    return examination_of(json.dumps(report, default=_plain), app, requests, Interface.WSGI)


def har(folder, *paths, status=200, headers=(), method="GET"):
    entries = [
        {
            "startedDateTime": f"2026-11-21T20:00:{second:02}Z",
            "time": 10,
            "request": {
                "method": method,
                "url": f"http://shop.example{path}",
                "headers": [{"name": name, "value": value} for name, value in headers],
            },
            "response": {"status": status},
        }
        for second, path in enumerate(paths)
    ]
    file = folder / "browse.har"
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    return file


def workloads(app, folder, *wanted, **changes):
    request = RaceRequest(folder=folder, workloads=wanted, **changes)
    urls = urls_of(request, ())
    examination = examine(app, [Request(path=url) for url in urls])
    return workloads_of(request, app, examination, examine)


def session(app, folder, *paths, headers=(), **recorded):
    file = har(folder, *paths, headers=headers, **recorded)
    examination = examine(app, [Request(path="/")])
    return session_workload(file, app, examination, (), think=False, ask=examine)[0]


def test_what_the_app_answers_alike_to_everybody_must_have_its_body(app, tmp_path):
    workload = session(app, tmp_path, "/", "/turn", "/mine", "/login")
    assert workload.order is Order.SESSION
    assert [answer.sameness for answer in workload.answers] == [
        Sameness.BODY, Sameness.STATUS, Sameness.STATUS, Sameness.STATUS,
    ]  # fmt: skip
    assert workload.answers[0].body == b"hello"
    assert {answer.status for answer in workload.answers} == {200}


def test_the_recorded_status_is_right_whatever_the_app_says_now(app, tmp_path):
    workload = session(app, tmp_path, "/gone", status=404)
    assert (workload.answers[0].status, workload.answers[0].sameness) == (404, Sameness.BODY)
    workload = session(app, tmp_path, "/gone", status=200)
    assert (workload.answers[0].status, workload.answers[0].sameness) == (200, Sameness.STATUS)


def test_what_is_sent_is_held_against_its_status_alone(app, tmp_path):
    workload = session(app, tmp_path, "/", method="POST")
    assert [answer.sameness for answer in workload.answers] == [Sameness.STATUS]


def test_the_session_is_sent_to_the_host_that_the_app_accepts(app, tmp_path):
    workload = session(app, tmp_path, "/host", headers=[("Referer", "http://shop.example/")])
    assert workload.host == "127.0.0.1"
    assert workload.answers[0].body == b"127.0.0.1"
    assert workload.requests[0].headers == (("Referer", "http://127.0.0.1/"),)


def test_visitors_return_cookies_unless_the_recording_begins_with_some(app, tmp_path):
    assert session(app, tmp_path, "/").cookies
    known = session(app, tmp_path, "/", headers=[("Cookie", "session=7")])
    assert not known.cookies
    assert known.requests[0].headers == (("Cookie", "session=7"),)
    assert known.answers[0].sameness is Sameness.STATUS


def test_cookies_that_the_recorded_visitor_was_given_are_not_sent_to_others(app, tmp_path):
    file = har(tmp_path, "/", "/mine")
    recorded = json.loads(file.read_text())
    recorded["log"]["entries"][1]["request"]["headers"] = [{"name": "Cookie", "value": "session=7"}]
    file.write_text(json.dumps(recorded))
    ((workload,), _) = workloads(app, tmp_path, WorkloadRequest(name="browse", session=file))
    assert workload.cookies
    assert [request.headers for request in workload.requests] == [(), ()]


def test_pauses_are_left_out_unless_they_are_asked_for(app, tmp_path):
    file = har(tmp_path, "/", "/mine")
    for think in (False, True):
        one = WorkloadRequest(name="browse", session=file, think=think)
        ((workload,), _) = workloads(app, tmp_path, one)
        assert any(request.think_s > 0 for request in workload.requests) is think


def test_headers_of_the_race_replace_recorded_ones(app, tmp_path):
    file = har(tmp_path, "/", headers=[("Accept", "text/html"), ("X-Kept", "1")])
    one = WorkloadRequest(name="browse", session=file)
    ((workload,), _) = workloads(app, tmp_path, one, headers=(("accept", "*/*"),))
    assert workload.requests[0].headers == (("X-Kept", "1"), ("accept", "*/*"))


def test_what_was_left_out_of_a_recording_is_told(app, tmp_path):
    file = har(tmp_path, "/", "/mine")
    recorded = json.loads(file.read_text())
    recorded["log"]["entries"][1]["request"]["url"] = "http://elsewhere.example/"
    recorded["log"]["entries"].append(recorded["log"]["entries"][0])
    file.write_text(json.dumps(recorded))
    _, notes = workloads(app, tmp_path, WorkloadRequest(name="browse", session=file))
    assert any(note.startswith("browse.har is replayed but for 1 × ") for note in notes)


def test_a_file_that_is_no_recording_is_refused(app, tmp_path):
    file = tmp_path / "browse.har"
    file.write_text("{")
    with pytest.raises(InputError, match="cannot be replayed"):
        workloads(app, tmp_path, WorkloadRequest(name="browse", session=file))


def test_a_long_session_is_asked_for_in_part(app, tmp_path):
    workload = session(app, tmp_path, *[f"/{number}" for number in range(60)])
    assert len(workload.requests) == 60
    bodies = [answer for answer in workload.answers if answer.sameness is Sameness.BODY]
    assert len(bodies) == _MOST_ASKED


def test_each_workload_has_its_name_its_requests_and_their_answers(app, tmp_path):
    found, _ = workloads(
        app, tmp_path, WorkloadRequest(name="both", urls=("/", "/turn", "/")),
        WorkloadRequest(name="browse", session=har(tmp_path, "/mine")),
    )  # fmt: skip
    assert [workload.name for workload in found] == ["both", "browse"]
    both, browse = found
    assert [request.path for request in both.requests] == ["/", "/turn", "/"]
    assert [answer.sameness for answer in both.answers] == [Sameness.BODY, Sameness.SIZE, Sameness.BODY]
    assert [request.path for request in browse.requests] == ["/mine"]


def test_a_page_that_is_no_success_is_refused_in_any_workload(app, tmp_path):
    with pytest.raises(AppError, match="/gone answers 404"):
        workloads(app, tmp_path, WorkloadRequest(name="a", urls=("/",)), WorkloadRequest(name="b", urls=("/gone",)))


def test_the_only_workload_needs_no_name(app, tmp_path):
    ((workload,), _) = workloads(app, tmp_path, WorkloadRequest(name="a", urls=("/",)))
    assert workload.name == ""


def rules(**paths):
    likeness = {name: RightAnswer(likeness=Likeness(name)) for name in ("status", "length", "exact")}
    text = RightAnswer(likeness=Likeness.CONTAINS, text="ell")
    return {path: likeness.get(rule, text) for path, rule in paths.items()}


def test_the_user_says_what_a_right_answer_is(app, tmp_path):
    check = rules(**{"/": "status", "/turn": "contains", "*": "length"})
    wanted = WorkloadRequest(name="a", urls=("/", "/mine"), check={"/": check["/"], "*": check["*"]})
    ((workload,), _) = workloads(app, tmp_path, wanted)
    assert [answer.sameness for answer in workload.answers] == [Sameness.STATUS, Sameness.LENGTH]
    with pytest.raises(InputError, match="check of /turn: the app's own answer does not contain 'ell'"):
        workloads(app, tmp_path, WorkloadRequest(name="a", urls=("/turn",), check={"/turn": check["/turn"]}))


def test_a_rule_for_a_page_that_nobody_asks_for_is_refused(app, tmp_path):
    with pytest.raises(InputError, match=r"check of /mien: the workload does not ask for it; did you mean /mine\?"):
        workloads(app, tmp_path, WorkloadRequest(name="a", urls=("/mine",), check=rules(**{"/mien": "status"})))


def test_the_user_says_what_a_right_answer_of_a_recording_is(app, tmp_path):
    file = har(tmp_path, "/", "/mine", headers=[("Accept-Encoding", "gzip")])
    recorded = json.loads(file.read_text())
    recorded["log"]["entries"][1]["response"]["content"] = {"mimeType": "text/html; charset=utf-8", "text": "hello"}
    file.write_text(json.dumps(recorded))
    check = rules(**{"/": "status", "/mine": "exact"})
    ((workload,), _) = workloads(app, tmp_path, WorkloadRequest(name="a", session=file, check=check))
    assert [answer.sameness for answer in workload.answers] == [Sameness.STATUS, Sameness.BODY]
    assert workload.answers[1].body == b"hello"
    ((workload,), _) = workloads(
        app, tmp_path, WorkloadRequest(name="a", session=file, check=rules(**{"*": "text"}))
    )
    assert {answer.parts for answer in workload.answers} == {(b"", b"ell", b"")}
    assert {request.headers for request in workload.requests} == {()}


@pytest.mark.parametrize(
    ("headers", "scheme"),
    [((), "http"), ((("X-Forwarded-Proto", "https"),), "https"), ((("X-Scheme", "https"),), "https")],
)
def test_forms_come_from_a_page_with_the_scheme_that_the_app_is_told_of(headers, scheme, app, tmp_path):
    said = (("Origin", "http://shop.example"), ("Referer", "http://shop.example/form/"))
    file = har(tmp_path, "/", headers=said, method="POST")
    examination = examine(app, [Request(path="/")])
    (request,) = session_workload(file, app, examination, headers, think=False, ask=examine)[0].requests
    origin = f"{scheme}://{examination.host}"
    assert {("Origin", origin), ("Referer", f"{origin}/form/")} <= set(request.headers)
