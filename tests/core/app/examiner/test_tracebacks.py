import logging

import pytest

from stackrace.app.examiner.callers import _Tracebacks, app_traceback


@pytest.fixture
def collector():
    found = _Tracebacks()
    yield found
    logging.getLogger().removeHandler(found)


def failure(text="gone"):
    try:
        raise LookupError(text)
    except LookupError as error:
        return error


def test_an_exception_logged_and_signalled_is_told_once(collector):
    error = failure()
    collector.add(error)
    logging.getLogger("django.request").error("Internal Server Error", exc_info=error)
    assert collector.take().count("LookupError: gone") == 1
    assert collector.take() == ""


def test_two_exceptions_are_both_told(collector):
    collector.add(failure("one"))
    collector.add(failure("two"))
    text = collector.take()
    assert text.index("one") < text.index("two")


def test_records_without_an_exception_are_left_alone(collector):
    logging.getLogger("shop").error("out of stock")
    assert collector.take() == ""


def test_a_traceback_starts_in_the_app():
    text = app_traceback(failure())
    assert __file__ in text
    assert text.startswith("Traceback (most recent call last):")
