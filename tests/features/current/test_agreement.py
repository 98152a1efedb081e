"""Every sentence that compares stacks agrees with the limits in the table: they are one family."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.core.race.contests import Entry, contest
from tests.core.race.raced import merged
from tests.core.report.test_told import everywhere

from stackrace.base.numbers import Interval, number
from stackrace.features.current.model import CurrentDeployment
from stackrace.race.judge.ranking import standing
from stackrace.race.results.parts import Parts
from stackrace.report import figures
from stackrace.report.document import document
from stackrace.report.figures import times
from stackrace.report.words.standing_sentences import words_of
from stackrace.stats.values import Question

STACKS = "abcdef"
NEAR = 0.006
"""A figure of two digits is off by so much of itself at most."""


ASKED = st.fixed_dictionaries({
    "seed": st.integers(0, 10**6),
    "stacks": st.integers(2, 6),
    "levels": st.sampled_from([(20,), (5, 20)]),
    "spread": st.sampled_from([0.0, 0.02, 0.06, 0.2, 0.5]),
    "blocks": st.integers(1, 12),
    "sd": st.sampled_from([0.003, 0.01, 0.03, 0.1]),
    "question": st.sampled_from(Question),
})  # fmt: skip


def raced(seed, stacks, levels, spread, **changes):
    """A race of stacks with such differences, at one level or two; b is what the project runs today."""
    dice = np.random.default_rng(seed)
    entries = {}
    for stack in STACKS[:stacks]:
        rate = 1000 * math.exp(dice.normal(0, spread))
        rates = {level: rate * math.exp(dice.normal(0, 0.1)) for level in levels}
        entries[stack] = Entry(rates=rates, cpu={stack: dice.uniform(0.3, 1)}, memory_mib=dice.uniform(50, 300))
    deployment = CurrentDeployment(stack="b", file="compose.yml", line=1)
    return contest(entries, current="b", parts=Parts().having(deployment), **changes)


def against(rows):
    """The limits of each stack's ratio to the leader, (0, ∞) without any."""
    return {row.stack: (row.ratio.low or 0.0, row.ratio.high or math.inf) for row in rows}


def named(text):
    """The stacks in a list such as ``b, c and d``; of many only the first are named."""
    return [word for word in re.split(r", | and ", text) if word in set(STACKS)]


def part(text):
    return float(text) / 100


def assert_answer(answer, rows):
    first, *others = rows
    limits = against(others)
    if re.search(rf"{first.stack} is the best(:|\.)", answer):
        assert all(high < 1 for _, high in limits.values())
        printed = re.search(r"× \(([\d.]+)–", answer)
        assert printed is None or float(printed[1]) > 1
    for pattern in (r"or within ([\d.]+) % of it", r"at most ([\d.]+) % behind"):
        if found := re.search(pattern, answer):
            known = [high for _, high in limits.values() if high < math.inf]
            assert all(high <= (1 + part(found[1])) * (1 + NEAR) for high in known)
    if found := re.search(r"([a-f, and]+) are equally good: they differ by at most ([\d.]+) %", answer):
        for stack in set(named(found[1].strip())) - {first.stack}:
            low, high = limits[stack]
            assert low * (1 + part(found[2])) >= 1 - NEAR and high <= (1 + part(found[2])) * (1 + NEAR)
    if found := re.search(r"every other stack is slower than ([a-f])", answer):
        assert found[1] == first.stack
        assert all(row.ratio.high < 1 for row in others if row.tier != 1)
    if found := re.search(r"; ([a-f, and]+) may be better", answer):
        assert all(limits[stack][1] >= 1 for stack in named(found[1]))
    if found := re.search(r"it delivers (\S+)× \((\S+)–(\S+)\) the throughput of ([a-f])", answer):
        row = next(row for row in others if row.stack == found[4])
        inverse = (1 / row.ratio.value, 1 / row.ratio.high, 1 / row.ratio.low)
        value, low, high = inverse
        assert found[0].startswith(f"it delivers {times(Interval(value=value, low=low, high=high))} the throughput")


def assert_others(words, rows, difference):
    limits = against(rows)
    if re.search("is itself the leader", words.current):
        assert rows[0].stack == "b"
    if found := re.search(r"cannot be told from [a-f]: it delivers (\S+) ", words.current):
        assert limits["b"][1] >= 1
        assert float(found[1]) == pytest.approx(float(number(row_of("b", rows).ratio.value)))
    elif re.search(r"\) delivers ", words.current):
        assert limits["b"][1] < 1
    if found := re.search(r"For \S+ \(\S+\) the throughput of ([a-f])", words.costs):
        assert limits[found[1]][1] < 1
    if found := re.search(r"([a-f]) has no proven difference in throughput", words.costs):
        assert limits[found[1]][1] >= 1
    if found := re.search(r"([a-f]) has as much throughput", words.costs):
        assert limits[found[1]][0] >= 1 / (1 + difference) * (1 - NEAR)
    for condition in words.conditions:
        if found := re.search(r"up to ([\d.]+) % do not matter .*: then ([a-f]) will do as well", condition):
            assert limits[found[2]][0] * (1 + part(found[1])) == pytest.approx(1, abs=NEAR)


def assert_lead(lead, rows, difference):
    first, *others = rows
    limits = against(others)
    assert lead.stacks[0] == first.stack or lead.kind == "measured once"
    match lead.kind:
        case "ahead":
            assert all(high < 1 for _, high in limits.values())
        case "open":
            assert set(lead.stacks) == {row.stack for row in rows if row.tier == 1}
            assert all(limits[stack][1] >= 1 for stack in lead.stacks[1:])
        case "good choice":
            known = [high for _, high in limits.values() if high < math.inf]
            assert all(high <= 1 + difference + 1e-9 for high in known)
        case "alike":
            for stack in lead.stacks[1:]:
                assert 1 / (1 + difference) - 1e-9 <= limits[stack][0] <= limits[stack][1] <= 1 + difference + 1e-9


def row_of(stack, rows):
    return next(row for row in rows if row.stack == stack)


def assert_table(rows):
    leader = rows[0]
    placed = [(row.tier or math.inf, -row.ratio.value) for row in rows[1:]]
    assert placed == sorted(placed)
    for row in rows:
        is_worse = row.ratio.high is not None and row.ratio.high < 1
        assert ((row.tier or 1) > 1) == is_worse
        quotient = row.throughput_per_s.value / leader.throughput_per_s.value
        assert quotient == pytest.approx(row.ratio.value)
        assert is_worse or row.ratio.low is None or row.ratio.high / row.ratio.low <= 10 * (1 + 1e-9)
        if row.ratio.high is not None and row is not leader:
            low, high = map(float, figures.ratio_limits(row.ratio).split("–"))
            assert (row.tier > 1) == (high < 1), "as printed"
            assert low <= float(figures.ratio(row.ratio)) <= high


@settings(max_examples=150)
@given(ASKED)
def test_every_sentence_that_compares_stacks_agrees_with_the_limits_in_the_table(asked):
    race = raced(**asked)
    found = standing(race, merge=merged)
    assume(found.verdict.valid)
    words = words_of(race, found)
    for level, lead in zip(found.levels, found.leads, strict=True):
        assert_table(level.rows)
        assert_lead(lead, level.rows, race.difference)
    assert_answer(words.answer, found.rows)
    assert_others(words, found.rows, race.difference)
    assert found.costs is None or found.costs.second.stack == found.answer.next_best


@settings(max_examples=5)
@given(ASKED)
def test_all_reports_have_these_sentences_and_these_limits(asked):
    race = raced(**asked)
    found = standing(race, merge=merged)
    assume(found.verdict.valid)
    words = words_of(race, found)
    for name, text in everywhere(race, found).items():
        for sentence in filter(None, (words.answer, words.leads, words.costs, words.current, *words.conditions)):
            assert sentence in text, name
    json_ = json.loads(json.dumps(document(race, found)))
    assert json_["words"]["answer"] == words.answer
    for row, kept in zip(found.rows, json_["levels"][found.headline]["rows"], strict=True):
        assert (kept["tier"], kept["ratio"]["low"], kept["ratio"]["high"]) == (
            row.tier,
            row.ratio.low,
            row.ratio.high,
        )
