"""What would have to be true for the answer to change."""

from dataclasses import replace

from tests.core.race.contests import Entry, flat

from stackrace.base.numbers import Interval
from stackrace.race.judge.winner import _MOST
from stackrace.race.results.answer import LatencyCounts
from stackrace.report.words.standing_sentences import _condition

from .worded import told


def only(found, begin):
    """The one condition that begins so."""
    (one,) = (text for text in found.conditions if text.startswith(begin))
    return one


TWO = {
    "a": Entry(rates=flat(1300), cpu={"a": 0.4}, memory_mib=410),
    "b": Entry(rates=flat(1000), cpu={"b": 0.4}, memory_mib=170),
}


def test_what_may_be_smaller_without_a_change_is_not_told():
    alike = {name: replace(entry, memory_mib=100) for name, entry in TWO.items()}
    assert told(alike).conditions == ()


def test_another_stack_may_be_better_below_some_load():
    found = told({
        "a": Entry(rates={1: 500, 10: 900, 100: 1300}, cpu={"a": 0.4}),
        "b": Entry(rates={1: 600, 10: 1100, 100: 1000}, cpu={"b": 0.4}),
        "c": Entry(rates={1: 300, 10: 300, 100: 300}, cpu={"c": 0.4}),
    })  # fmt: skip
    assert only(found, "If you run at 10 connections or fewer") == (
        "If you run at 10 connections or fewer: then b."
    )


def test_errors_may_not_be_acceptable():
    failing = {"a": replace(TWO["a"], errors=1), "b": TWO["b"]}
    text = only(told(failing), "If no request may fail")
    assert text.startswith("If no request may fail: then b, which had no errors; of a's ")
    assert text.endswith(" requests 10 failed.")


def test_cpu_time_may_be_what_is_paid_for():
    text = only(told({"a": replace(TWO["a"], cpu={"a": 0.8}), "b": TWO["b"]}), "If CPU time")
    assert text == "If CPU time is what you pay for: then b, 0.40 ms per request against 0.80 ms."


def test_a_heavy_service_bounds_what_any_server_can_save():
    heavy = {name: replace(e, cpu={name: 0.2, "postgresql": 0.6}, memory_mib=100) for name, e in TWO.items()}
    assert only(told(heavy), "If the app asked less") == (
        "If the app asked less of postgresql: 75 % of the CPU time goes there, "
        "so no server can save more than the other 25 %."
    )


def test_there_are_never_more_than_four():
    rates = {1: 100, 20: 1300}
    many = {
        "nginx/http/a": Entry(rates=rates, cpu={"nginx": 0.1, "a": 0.9}, memory_mib=900, errors=2),
        "b": Entry(rates={1: 200, 20: 1200}, cpu={"b": 0.2}, memory_mib=100),
    }
    assert len(told(many).conditions) == _MOST


def test_latency_may_count_more_than_throughput():
    fast, slow = Interval(value=0.012, low=0.011, high=0.030), Interval(value=0.040, low=0.038, high=0.043)
    for at_least, bound in ((False, ""), (True, "≥ ")):
        counts = LatencyCounts(stack="b", p99_s=fast, first_p99_s=slow, at_least=at_least)
        figures = f"12.0 ms (11.0–30.0) against {bound}40.0 ms (38.0–43.0)"
        assert _condition(counts) == f"If p99 latency counts more than throughput: then b, {figures}."


def test_one_stack_alone_has_no_conditions():
    assert told({"a": TWO["a"]}).conditions == ()
