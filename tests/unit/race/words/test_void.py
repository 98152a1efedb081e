"""A void race has no answer."""

from dataclasses import replace

from tests.factories import make_finding

from stackrace.model.answer import Answer, AnswerKind
from stackrace.model.verdict import Effect, Verdict
from stackrace.race.standing import standing
from stackrace.race.void import void
from stackrace.race.words import worded

from ..raced import merged
from .contests import Entry, contest, flat

TWINS = replace(make_finding("twins differ", Effect.INVALIDATES), seen="two identical stacks came out 4 % apart.")


def test_nothing_is_answered():
    race = contest({"a": Entry(rates=flat(1300), cpu={"a": 0.4}), "b": Entry(rates=flat(1000), cpu={"b": 0.4})})
    plain = replace(standing(race, merge=merged), answer="", levels_told="", costs="", conditions=())
    void_one = replace(plain, verdict=Verdict((make_finding("mild"), TWINS)), result=Answer(kind=AnswerKind.VOID))
    found = worded(void_one, [], [])
    assert found.answer == "This race is void: two identical stacks came out 4 % apart."
    assert (found.settled, found.costs, found.conditions) == (False, "", ())


def test_every_grave_finding_is_named():
    other = replace(TWINS, seen="the canary drifted by 12 %")
    assert void(Verdict((TWINS, other))).endswith("4 % apart; the canary drifted by 12 %.")
