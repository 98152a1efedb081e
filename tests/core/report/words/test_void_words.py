"""A void race has no answer."""

from dataclasses import replace

from tests.core.race.contests import Entry, contest, flat
from tests.core.race.raced import merged
from tests.factories import make_finding

from stackrace.base.verdict import Effect, Verdict
from stackrace.race.judge.ranking import standing
from stackrace.report.words.answer_sentence import _void
from stackrace.report.words.standing_sentences import StandingWords, words_of

TWINS = replace(make_finding("twins differ", Effect.INVALIDATES), seen="two identical stacks came out 4 % apart.")


def test_nothing_is_answered():
    race = contest({"a": Entry(rates=flat(1300), cpu={"a": 0.4}), "b": Entry(rates=flat(1000), cpu={"b": 0.4})})
    believed = standing(race, merge=merged)
    assert words_of(race, believed).costs
    void_one = replace(believed, verdict=Verdict((make_finding("mild"), TWINS)))
    assert words_of(race, void_one) == StandingWords(
        answer="This race is void: two identical stacks came out 4 % apart."
    )


def test_every_grave_finding_is_named():
    other = replace(TWINS, seen="the canary drifted by 12 %")
    assert _void(Verdict((TWINS, other))).endswith("4 % apart; the canary drifted by 12 %.")
