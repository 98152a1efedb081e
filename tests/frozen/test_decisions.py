"""Simulated races and proofs decide what they decided: who leaves when, and when it ends."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from tests.core.race import test_void
from tests.core.race.simulated import Clock, Nowhere, asking, race
from tests.features.export import test_equivalence
from tests.frozen import product
from tests.frozen.shown import as_golden, story

STACKS = ("gunicorn", "waitress", "cheroot", "uwsgi", "granian")
CLEAR = dict(zip(STACKS, (1000, 1500, 1010, 700, 1300), strict=True))
CLOSE = dict(zip(STACKS, (1000, 1020, 990, 1040, 1035), strict=True))
ALIKE = dict.fromkeys(STACKS, 1000)
RACES = {
    "clear": (CLEAR, {}),
    "close": (CLOSE, {"budget_s": 400.0}),
    "alike": (ALIKE, {"budget_s": 300.0}),
    "ranking": (CLEAR, {"question": product.Question.RANKING, "budget_s": 240.0}),
    "exhaustive": (CLEAR, {"exhaustive": True}),
    "three levels": (CLOSE, {"levels": (1, 10, 100), "budget_s": 300.0}),
    "two workloads": (CLEAR, {"workloads": (asking("pages"), asking("search")), "budget_s": 200.0}),
    "runs": (CLEAR, {"repeats": 4, "run": {"duration_s": 2.0}, "budget_s": None}),
    "twin": (CLEAR, {"twin": True}),
    "short": (CLEAR, {"budget_s": 15.0}),
    "few at once": (CLEAR, {"together": 2}),
}
AFTER = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24)
"""Blocks."""
FAILING = {"not starting": {"not_starting": {"waitress"}}, "dying": {"dying": {"granian"}}}


@pytest.mark.parametrize("name", RACES)
def test_who_races_when_and_when_it_ends(name, monkeypatch):
    speeds, asked = RACES[name]
    speeds = speeds | {f"{stack}#twin": speed for stack, speed in speeds.items()}
    content = []
    for seed in (1, 2):
        product.let_time_pass(monkeypatch, clock := Clock())
        content.append(story(race(clock, Nowhere(clock, speeds), STACKS, seed=seed, **asked)[0]))
    as_golden(f"race, {name}", content)


@pytest.mark.parametrize("name", FAILING)
def test_what_becomes_of_a_stack_that_fails(name, monkeypatch):
    product.let_time_pass(monkeypatch, clock := Clock())
    as_golden(f"race, {name}", story(race(clock, Nowhere(clock, CLEAR, **FAILING[name]), STACKS)[0]))


def test_what_is_interrupted(monkeypatch):
    product.let_time_pass(monkeypatch, clock := Clock())
    as_golden("race, interrupted", story(race(clock, Nowhere(clock, CLEAR, interrupt_after=20), STACKS)[0]))


def values(seed, truths, blocks, *, sd):
    """Draw ln(throughput) of stacks by block, and the machine's weather that they share."""
    dice = random.Random(seed)
    weather = [dice.gauss(0, 0.1) for _ in range(blocks)]
    return [[truth + weather[n] + dice.gauss(0, sd) for n in range(blocks)] for truth in truths]


@pytest.mark.parametrize("ranking", [False, True])
def test_who_is_left_and_who_wins_after_each_block(ranking):
    content = {}
    for seed, sd in enumerate((0.01, 0.03, 0.05, 0.05, 0.1)):
        truths = [math.log1p(-share) for share in (0.0, 0.02, 0.06, 0.15, 0.3)]
        drawn = values(seed, truths, 24, sd=sd)
        content[f"seed {seed}, sd {sd}"] = [judged(drawn, n, ranking=ranking) for n in AFTER]
    as_golden("judged, a ranking" if ranking else "judged, a winner", content)


def judged(drawn, blocks, *, ranking):
    said = product.judged([row[:blocks] for row in drawn], 0.05, ranking=ranking)
    return (
        f"{blocks}: left {said.left}, winner {said.winner}, tiers {said.tiers}, behind {rounded(said.behind)}, "
        f"needs {said.blocks_needed}"
    )


def rounded(value):
    return None if value is None else float(f"{value:.6g}")


@pytest.mark.parametrize("exported", [1000, 1010, 960, 900])
def test_when_a_proof_is_known(exported):
    whole = test_equivalence.race(exported, blocks=40, sd=0.03, seed=5)
    content = []
    for blocks in (1, 2, 3, 6, 9, 13, 20, 27, 40):
        so_far = replace(whole, launches=tuple(each for each in whole.launches if each.block < blocks))
        answer = product.proven(so_far, test_equivalence.STACK, 0.05)
        content.append(f"{blocks}: {answer.verdict} by {answer.blocks}")
    as_golden(f"proof, {exported}", content)


@pytest.mark.parametrize("ratio", [1.0, 1.04, 1.2])
def test_when_twins_make_a_race_void(ratio):
    race = test_void.twinned({"a": 1000, "b": 1300, "c": 1250}, ratio=ratio, blocks=10)
    bare = (
        replace(each, slices=tuple(replace(one, result=replace(one.result, histogram=b"")) for one in each.slices))
        for each in race.launches
    )
    whole = replace(race, launches=tuple(bare))
    content = []
    for blocks in range(1, 11):
        so_far = replace(whole, launches=tuple(each for each in whole.launches if each.block < blocks))
        next_, standing = product.decided(so_far), product.answered(so_far)
        checks = " ".join(f"{each.check}:{each.effect}" for each in standing.verdict.findings)
        content.append(
            f"{blocks}: {'over' if next_.settled else 'goes on'} without {sorted(next_.dropped)}; "
            f"{standing.answer.kind} {' '.join(standing.answer.stacks)}; {checks}"
        )
    as_golden(f"twins, {ratio}", content)
