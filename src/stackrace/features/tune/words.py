"""Sentences about a tuning: before it, and about its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...base.numbers import about, connections, count, duration, flag_value, number, percent, things
from ...base.units import SIZE
from ...base.verdict import usual_refusal
from ...race.plan import RacePlan
from ...race.results.race import Ending, Race
from ...report.figures import limits, listed, names, sentence, times
from ...report.words import findings
from .estimates import Effect
from .model import GoalKind, Infeasible, Needs, Reference, Tuning, TuningGoal, TuningLimits, Unfit, tuning_of
from .needs import Exceeded, exceeded
from .search import AT_ONCE, FINAL_LAUNCHES
from .tuning_result import Against, Edge, Tuned

REFERENCES = {
    Reference.DEFAULT: "untuned",
    Reference.FORMULA: "the documented formula",
    Reference.CURRENT: "current",
}
"""Names of the references."""


def outlook(plan: RacePlan, tuning: Tuning) -> tuple[str, ...]:
    """Return the sentences shown before the race: how many configurations race, and how many are left out."""
    many = sum(stack.path not in tuning.reserve for stack in plan.stacks)
    out = sum(one.stack not in tuning.reserve for one in tuning.infeasible)
    too_large = f"; {things(out, 'other')} would exceed the limits" if out else ""
    knobs = listed([f"{knob} ({listed(knob.values)})" for knob in tuning.knobs])
    lines = [f"Tuning {knobs}: {things(many, 'configuration')}{too_large}."]
    if tuning.cut and plan.budget_s is not None:
        is_short = tuning.whole_s is not None
        why = f"In {duration(plan.budget_s)} no more can be told apart" if is_short else f"At most {AT_ONCE} race"
        verb = "is" if tuning.cut == 1 else "are"
        lines.append(f"{why}: {things(tuning.cut, 'other')} between them {verb} left out. {_way_out(tuning)}")
    return tuple(lines)


def _way_out(tuning: Tuning) -> str:
    if tuning.whole_s is None:
        return "With --vary for fewer settings, more of their values race."
    return f"A whole search takes about {about(tuning.whole_s)} (--budget {flag_value(tuning.whole_s)})."


def answer(race: Race, found: Tuned) -> str:
    """Return the answer in a sentence."""
    tuning = tuning_of(race)
    if found.value is None:
        return f"No configuration of {tuning.stack} could be measured."
    goal, value = tuning.goal, found.value
    around = limits(value, goal.figure)
    what = f"{goal.title} is " if goal.kind is GoalKind.LATENCY else ""
    delivers = f"{what}{_with_unit(goal, value.value)}{f' ({around})' if around else ''}"
    given = next((one for one in found.against if one.reference is Reference.DEFAULT), None)
    said = f"{found.stack} {_leads(race, found, goal)}: {delivers}{_than_given(race, goal, given) if given else ''}"
    return sentence(said, race.stacks)


def _leads(race: Race, found: Tuned, goal: TuningGoal) -> str:
    tried = count(found.tried) if found.tried == found.of else f"{found.tried} tried of {count(found.of)}"
    if goal.rate_per_s is None:
        where = f"{tried} configurations at {connections(max(load.concurrency for load in race.loads))}"
    else:
        where = f"{tried} configurations at {number(goal.rate_per_s)} requests/s"
    if found.rivals or found.launches < FINAL_LAUNCHES or found.tried < 2:
        return f"leads {where}, but is not proved the best"
    return f"is the best, or within {percent(race.difference)} of it, of {where}"


def _with_unit(goal: TuningGoal, value: float) -> str:
    return f"{goal.figure(value)}{' requests/s' if goal.kind is GoalKind.THROUGHPUT else ''}"


def _than_given(race: Race, goal: TuningGoal, given: Against) -> str:
    if given.is_same:
        return "; that is the stack untuned"
    if given.ratio is None:
        why = _why_not(given.infeasible) if given.infeasible else _missing(race, given.stack)
        return f"; the untuned stack {why or 'was measured in other blocks only'}"
    ratio = times(goal.interval(given.ratio))
    if goal.kind is GoalKind.THROUGHPUT:
        return f", {ratio} what {given.stack} delivers untuned"
    return f", {ratio} the {goal.title} of {given.stack} untuned"


def _missing(race: Race, stack: str) -> str:
    # imported here: it loads the statistics
    from ...race.judge.ranking import why_missing

    failure = why_missing(race, stack)
    return "" if failure is None else f"{findings.failure_kind(failure)}: {findings.failure_message(failure)}"


def against(goal: TuningGoal, one: Against) -> str:
    """Return the text of a cell: the ratio to a reference, ``1.28× (1.24–1.33)``, or why there is none."""
    if one.is_same:
        return "the same stack"
    if one.infeasible is not None:
        return _why_not(one.infeasible)
    return "not measured" if one.ratio is None else times(goal.interval(one.ratio))


def race_file_line(stack: str) -> str:
    """Return the line of a race file that races the tuned stack."""
    escaped = stack.replace("\\", "\\\\").replace('"', '\\"')
    return f'stacks = ["{escaped}"]'


def reasons(race: Race, found: Tuned) -> Iterator[str]:
    """Yield the explanations of the answer, a sentence each."""
    tuning = tuning_of(race)
    if found.needs is not None:
        yield f"It needs {needs(found.needs, tuning.limits)} under load."
    if found.poor is not None and found.launches > 1:
        word = "at least" if tuning.goal.kind is GoalKind.THROUGHPUT else "at most"
        launched = f"it was launched {things(found.launches, 'time')}"
        if found.final_launches < found.launches:
            launched += f", and the figures are from the last {found.final_launches}, which did not select it"
        yield f"Nine launches of ten give {word} {_with_unit(tuning.goal, found.poor)}; {launched}."
    for one in found.scattering:
        yield (
            f"{one.stack} was {percent(one.mean - 1)} better on the average, but its launches vary by "
            f"{percent(one.sd)}: what a poor launch of it gives is less."
        )
    is_short = race.ending is Ending.BUDGET
    more_time = f"; a longer budget would tell (--budget {flag_value(2 * race.budget_s)})" if is_short else ""
    if found.rivals:
        yield f"{names(found.rivals)} may be better{more_time}."
    elif found.launches < FINAL_LAUNCHES:
        yield f"It was launched too few times to be sure of it{more_time}."
    if found.equals:
        yield f"Within {percent(race.difference)} of it, with 95 % confidence: {names(found.equals)}."
    yield from map(_edge, found.edges)
    yield from _effects(found.effects)
    if out := [one for one in found.infeasible if one.stack not in tuning.reserve or one.measured]:
        yield _infeasible(out)
    if tuning.cut:
        yield f"{things(tuning.cut, 'other')} of its configurations did not race. {_way_out(tuning)}"


def _edge(one: Edge) -> str:
    end, more = ("largest", "larger") if one.is_largest else ("smallest", "smaller")
    values = [round(int(one.value) * times_) for times_ in ((1, 1.5, 2) if one.is_largest else (0.5, 0.75, 1))]
    tried = ",".join(map(str, dict.fromkeys(value for value in values if value > 0)))
    return (
        f"{one.server}.{one.name}={one.value} is the {end} value that was tried: a {more} one may be better still "
        f"(--vary {one.server}.{one.name}={tried})."
    )


def needs(needed: Needs, limits: TuningLimits) -> str:
    """Return the needs of a configuration: ``83 MiB and 12 connections to databases (20 allowed)``.

    Connections are named if there are any, or if ``limits`` has a number of them.
    """
    memory = SIZE.format(needed.memory_bytes)
    if limits.memory_bytes is not None:
        memory += f" ({SIZE.format(limits.memory_bytes)} allowed)"
    if limits.connections is None and not needed.connections:
        return memory
    many = "an unknown number of connections" if needed.connections is None else connections(needed.connections)
    allowed = "" if limits.connections is None else f" ({limits.connections} allowed)"
    return f"{memory} and {many} to databases{allowed}"


def _effects(found: Sequence[Effect]) -> Iterator[str]:
    idle, unknown = [one for one in found if not one.matters], [one for one in found if not one.known]
    if idle:
        most = max(one.span_high or 0.0 for one in idle)
        yield (
            f"{_named(idle)} {'does' if len(idle) == 1 else 'do'} not matter: on the average over the other "
            f"settings all values tried are within {percent(max(most, 0.001))} of each other."
        )
    for one in found:
        if one.matters and one.known:
            yield (
                f"{_named([one])} matters: on the average over the other settings {one.best} is "
                f"{number(1 + one.span)}× as good as {one.worst}."
            )
    if unknown:
        verb = "matters" if len(unknown) == 1 else "matter"
        yield f"Whether {_named(unknown)} {verb} is not known yet: too few launches tell."


def _named(found: Sequence[Effect]) -> str:
    return listed([f"{one.server}.{one.name}" for one in found])


_WHY = {
    Unfit.MEMORY: "more memory",
    Unfit.CONNECTIONS: "more connections",
    Unfit.RATE: "not keeping up with the rate",
    Unfit.FAILED: "no believable measurement",
}

_OF_NEEDS = (Unfit.MEMORY, Unfit.CONNECTIONS)
"""Reasons that follow from a configuration's needs."""


def _infeasible(out: Sequence[Infeasible]) -> str:
    whys = Counter(one.kind for one in out)
    parts = [f"{many} for {_WHY[why]}" for why, many in whys.items()]
    measured = sum(one.measured and one.kind in _OF_NEEDS for one in out)
    known = f", {measured} of them by their own measurement" if measured else ""
    return f"{things(len(out), 'configuration')} left out: {listed(parts)}{known}."


def _why_not(one: Infeasible) -> str:
    if one.kind is Unfit.RATE:
        return "does not keep up with the rate"
    if one.kind is Unfit.FAILED or one.needs is None:
        return "gave no believable measurement"
    many = one.needs.memory_bytes if one.kind is Unfit.MEMORY else one.needs.connections or 0
    return f"{'needs' if one.measured else 'would need'} {_amount(one.kind, many)}"


def _amount(kind: Unfit, many: int) -> str:
    return SIZE.format(many) if kind is Unfit.MEMORY else f"{things(many, 'connection')} to databases"


def none_within(stack: str, limits: TuningLimits, out: Sequence[Infeasible]) -> str:
    """Return the message that no configuration is within ``limits``, with every limit that the nearest exceeds.

    ``out`` are configurations whose needs exceed a limit, at least one. The nearest is the one whose largest excess
    is the smallest.
    """
    nearest = min(out, key=lambda one: exceeded(limits, one.needs)[0].times)
    over = exceeded(limits, nearest.needs)
    known = "measured under load" if nearest.measured else "computed from two that were measured"
    return (
        f"no configuration of {stack} is within the limits: {nearest.stack} comes nearest and needs "
        f"{' and '.join(map(_too_much, over))} ({known}); give {' '.join(map(_flag, over))} or more"
    )


def _too_much(one: Exceeded) -> str:
    used, limit = _amount(one.kind, one.used), _amount(one.kind, one.limit)
    return f"{used}, {percent(one.times - 1)} more than the limit of {limit}"


def _flag(one: Exceeded) -> str:
    return f"--memory {-(-one.used // 2**20)}MiB" if one.kind is Unfit.MEMORY else f"--connections {one.used}"


def ending(race: Race, found: Tuned) -> str:
    """Return the number of launches, and why the race ended."""
    launches = sum(not launch.cut_short for launch in race.launches)
    done = f"{count(launches)} {'launch' if launches == 1 else 'launches'} in {duration(race.elapsed_s)}"
    return f"{race.app}: {done}. {_why_ended(race.ending, found)}".rstrip()


def _why_ended(ended: Ending | None, found: Tuned) -> str:
    if ended is Ending.ANSWERED and not found.stack:
        ended = Ending.EXHAUSTED
    if ended is Ending.ANSWERED and found.launches < FINAL_LAUNCHES:
        return "It ended since too few launches could be believed."
    if ended is Ending.ANSWERED and found.rivals:
        return "It ended since the finalists could not be told apart."
    return _ENDINGS.get(ended, "") if ended else ""


_ENDINGS = {
    Ending.ANSWERED: "It ended because the finalists are told apart.",
    Ending.BUDGET: "It ended with its budget.",
    Ending.INTERRUPTED: "It was interrupted.",
    Ending.EXHAUSTED: "Nothing was left to race.",
}


_LEAST_PROOF = 2
"""Valid launches of the tuned stack that an answer needs: a single one says nothing about the next."""


def unproved(race: Race, found: Tuned) -> str:
    """Return the reason why the result is no answer; empty if it is one."""
    if not found.stack:
        return _nothing(race, found)
    if found.launches >= _LEAST_PROOF:
        return ""
    is_short = race.ending is Ending.BUDGET
    advice = f"give --budget {flag_value(2 * race.budget_s)}" if is_short else f"see: stackrace report {race.id}"
    return f"only one launch of {found.stack} could be believed, which proves nothing; {_refused(race) or advice}"


def _nothing(race: Race, found: Tuned) -> str:
    tuning = tuning_of(race)
    beyond = [one for one in found.infeasible if one.kind in _OF_NEEDS and exceeded(tuning.limits, one.needs)]
    if beyond:
        others = len(beyond) < len(found.infeasible)
        summary = f". {_infeasible(found.infeasible)}".rstrip(".") if others else ""
        return none_within(tuning.stack, tuning.limits, beyond) + summary
    if any(one.kind is Unfit.RATE for one in found.infeasible):
        return "no configuration keeps up with the rate of the goal; give a lower one"
    why = _refused(race) or next((f"{one} {why}" for one in race.stacks if (why := _missing(race, one))), "")
    return f"no configuration gave a believable measurement; {why or f'see: stackrace report {race.id}'}"


def _refused(race: Race) -> str:
    verdicts = [one.verdict for launch in race.launches for one in launch.slices]
    usual = usual_refusal(verdicts)
    if usual is None:
        return ""
    refused = sum(not each.valid for each in verdicts)
    many = f"{count(refused)} of {count(len(verdicts))} slices were refused"
    return f"{many}, most of them for {findings.title(usual)}: {findings.warning(usual)}"
