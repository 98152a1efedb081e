"""What the winner costs."""

from tests.core.race.contests import Entry, flat

from stackrace.race.results.standing import Costs, Need
from stackrace.report.words.standing_sentences import costs

from .worded import told


def test_a_cheaper_equal_is_as_good():
    found = told({
        "a": Entry(rates=flat(1010), cpu={"a": 0.5}, memory_mib=300),
        "b": Entry(rates=flat(1000), cpu={"b": 0.5}, memory_mib=100),
    }, blocks=28, sd=0.01, exhaustive=True)  # fmt: skip
    assert found.costs == (
        "b has as much throughput, and needs a third of the memory "
        "(100 MiB against 300 MiB) and about the same CPU time per request (0.50 ms against 0.50 ms)."
    )


def test_a_cheaper_stack_that_cannot_be_told_apart_is_named_beside_the_next_best():
    found = told({
        "a": Entry(rates=flat(1050), cpu={"a": 0.5}, memory_mib=300),
        "b": Entry(rates=flat(1000), cpu={"b": 0.5}, memory_mib=290),
        "c": Entry(rates=flat(950), cpu={"c": 0.45}, memory_mib=150),
    }, blocks=2, sd=0.02)  # fmt: skip
    first, second = found.costs.split(". ")
    assert first.startswith("Against b, a needs about the same memory (300 MiB against 290 MiB)")
    assert second.startswith("c has no proven difference in throughput from a and needs half the memory")


def test_services_beside_a_stack_cost_it_nothing():
    found = told({
        "a": Entry(rates=flat(1300), cpu={"a": 0.4, "postgresql": 9.0}, memory_mib=400),
        "b": Entry(rates=flat(1000), cpu={"b": 0.4, "postgresql": 9.0}, memory_mib=400),
    })  # fmt: skip
    assert "about the same memory (200 MiB against 200 MiB)" in found.costs
    assert "about the same CPU time per request (0.40 ms against 0.40 ms)" in found.costs


def test_one_stack_alone_costs_nothing_in_comparison():
    assert told({"a": Entry(rates=flat(1000), cpu={"a": 0.4})}).costs == ""


def test_a_screen_has_one_sentence_of_them_the_one_that_may_change_the_choice():
    needs = Costs(
        first=Need(stack="a", memory_bytes=300.0, cpu_ms_per_request=0.5),
        second=Need(stack="b", memory_bytes=290.0, cpu_ms_per_request=0.5),
        ratio=None,
        cheaper=Need(stack="c", memory_bytes=150.0, cpu_ms_per_request=0.45),
        equal=False,
    )
    expected = "c has no proven difference in throughput from a and needs half the memory and 0.90× the CPU time."
    assert costs(needs, short=True) == expected
