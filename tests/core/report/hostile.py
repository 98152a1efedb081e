"""A race whose every foreign text tries to break out: markup, escape sequences, quotes, line breaks."""

from dataclasses import replace

from tests.factories import make_failure, make_race, make_standing

from stackrace.base.numbers import Interval
from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.measure.launch import FailureKind, StackFacts
from stackrace.measure.workload import Likeness, RightAnswer
from stackrace.race.results.answer import LessMemory
from stackrace.race.results.standing import Costs, Need, Standing
from stackrace.stats.values import MachineComparison, MachineVerdict, RatioShift

EVIL = "<script>alert(1)</script>\x1b[31m\"'|`&\n\x00\u202e]]>{{ 7*7 }}\ud800"
STACK = f"nginx/http/gunicorn:workers=4,name={EVIL}"


def hostile_race():
    """Two stacks: one that is measured under a hostile name, one that fails with a hostile log."""
    failure = make_failure(FailureKind.DIED, EVIL, log=EVIL * 3)
    race = make_race([STACK, "gunicorn", "uwsgi"], blocks=3, failures={"uwsgi": failure}, app=EVIL,
                     notes=(EVIL,), urls=("/" + EVIL,))  # fmt: skip
    finding = Finding(check=EVIL, effect=Effect.INVALIDATES, seen=EVIL, threshold=EVIL, remedy=EVIL)
    first = next(launch for launch in race.launches if launch.slices)
    spoilt = replace(first, slices=tuple(replace(one, verdict=Verdict((finding,))) for one in first.slices))
    facts = StackFacts(stack=STACK, versions={EVIL: EVIL}, configs={EVIL: EVIL}, commands=(EVIL,))
    launches = tuple(spoilt if launch is first else launch for launch in race.launches)
    checks = {"": {"/" + EVIL: RightAnswer(likeness=Likeness.CONTAINS, text=EVIL)}}
    return replace(race, launches=launches, facts=(facts,), checks=checks)


def hostile_standing(race) -> Standing:
    """Its standing, with hostile names in every sentence."""
    costs = Costs(first=Need(stack=STACK, memory_bytes=2e6, cpu_ms_per_request=0.5),
                  second=Need(stack=EVIL, memory_bytes=1e6, cpu_ms_per_request=0.5))  # fmt: skip
    machine = MachineComparison(
        machine=EVIL, against=EVIL, ratio=Interval(value=1.0), speed=MachineVerdict.UNKNOWN,
        shift=RatioShift(first=STACK, second=EVIL, shift=Interval(value=1.0)), ratios=MachineVerdict.UNEQUAL,
    )  # fmt: skip
    return replace(
        make_standing(race),
        costs=costs,
        machines=(machine,),
        conditions=(LessMemory(stack=EVIL, memory_bytes=1e6, first_memory_bytes=2e6),),
        warnings={EVIL: 3},
    )
