"""Reports of a check for CI systems: JUnit XML, and OpenMetrics text for a time-series database.

JUnit has a test case for each response, and one for launches if some of the head's failed. A slowdown is a
failure. A response that is undecided is skipped, with the reason: it is neither good nor bad.
Sources: the schema of Jenkins' xunit plugin, junit-10.xsd; GitLab, "Unit test reports".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from xml.etree import ElementTree as Tree

from ...base.text import one_line
from ...race.results.comparison import Change, Outcome, Ruling, State
from ...race.results.race import Race
from ...report.openmetrics import Sample, metric, whole_text
from . import words
from .model import GateAnswer, gate_of
from .ruling import gate_answer


def junit(race: Race) -> str:
    """Return the JUnit XML of a check, which ends with a newline."""
    result = gate_answer(race)
    answer, failed = one_line(words.answer(race, result)), result.failed
    took = f"{race.elapsed_s:.3f}"
    suite = Tree.Element(
        "testsuite", name="stackrace check", timestamp=race.started_at.partition("+")[0], time=took
    )
    _properties(suite, race)
    for each in result.rulings:
        said = one_line(f"{words.change(each)}, allowed {words.allowed(each)}: {words.ruling(each)}")
        _case(
            suite, race, words.name(each), said, answer,
            failure="slower" if each.state is State.SLOWER else "",
            skipped=one_line(f"{said}. {answer}") if _is_open(each, result) else "",
        )  # fmt: skip
    if failed.head:
        said, failure = one_line(words.failed(race, result)), "failed" if failed.confirmed else ""
        _case(suite, race, "launches", said, answer, failure=failure, skipped=f"{said}: not confirmed")
    Tree.SubElement(suite, "system-out").text = answer
    suites = Tree.Element("testsuites", name="stackrace", time=took)
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    for element in (suites, suite):
        element.set("tests", str(len(suite.findall("testcase"))))
        element.set("failures", str(len(suite.findall("testcase/failure"))))
        element.set("errors", "0")
    suites.append(suite)
    Tree.indent(suites)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{Tree.tostring(suites, encoding='unicode')}\n"


def _properties(suite: Tree.Element, race: Race) -> None:
    properties = Tree.SubElement(suite, "properties")
    facts = gate_of(race)
    values = {
        "race": race.id,
        "stack": facts.head.stack,
        "load": race.loads[0].label,
        "base": words.contender(facts.base, facts.head),
        "head": words.contender(facts.head, facts.base),
    }
    for name, value in values.items():
        Tree.SubElement(properties, "property", name=name, value=one_line(value))


def _case(
    suite: Tree.Element, race: Race, name: str, said: str, answer: str, *, failure: str, skipped: str
) -> None:
    case = Tree.SubElement(
        suite, "testcase", classname=f"stackrace.{_dotted(race.app)}", name=one_line(name), time="0"
    )
    if failure:
        Tree.SubElement(case, "failure", message=said, type=failure).text = answer
    elif skipped:
        Tree.SubElement(case, "skipped", message=skipped)
    Tree.SubElement(case, "system-out").text = said


def _is_open(each: Ruling, result: GateAnswer) -> bool:
    return each.state is not State.CLEAR or result.outcome is Outcome.REFUSED


def _dotted(name: str) -> str:
    return one_line(name).replace(" ", "_").replace(".", "_") or "app"


_NOTHING = Change(value=math.nan)

_FAMILIES: tuple[tuple[str, str, Callable[[Ruling], float | None]], ...] = (
    ("change_ratio", "How much worse the head is: 0.05 for 5 %.", lambda each: (each.change or _NOTHING).value),
    ("change_low_ratio", "The lower limit of that.", lambda each: (each.change or _NOTHING).low),
    ("change_high_ratio", "The upper limit: so much could have been missed.", lambda each: each.missed),
    ("allowed_ratio", "What is allowed of that.", lambda each: each.terms.allowance),
)


def openmetrics(race: Race) -> str:
    """Return the OpenMetrics text of a check, which ends with ``# EOF`` and a newline."""
    return whole_text(_lines(race, gate_answer(race)))


def _lines(race: Race, result: GateAnswer) -> Iterator[str]:
    facts, failed = gate_of(race), result.failed
    own = {"app": race.app, "stack": facts.head.stack, "load": race.loads[0].label}

    def family(name: str, about: str, samples: Iterable[Sample], **options: str) -> Iterator[str]:
        return metric(f"check_{name}", about, [({**own, **labels}, value) for labels, value in samples], **options)

    outcomes = [({"stackrace_check_outcome": each.value}, each is result.outcome) for each in Outcome]
    yield from family("outcome", "What came of the check.", outcomes, kind="stateset")
    yield from family("pairs", "Pairs of launches.", [({}, result.blocks)])
    about = "Launches that did not come up, answered wrongly, or died."
    yield from family("failed_launches", about, [({"side": "base"}, failed.base), ({"side": "head"}, failed.head)])
    yield from family("elapsed_seconds", "How long the check took.", [({}, race.elapsed_s)], unit="seconds")
    for name, about, of in _FAMILIES:
        yield from family(name, about, [(_labels(each), of(each)) for each in result.rulings], unit="ratio")
    values = [
        ({**_labels(each), "side": side}, value)
        for each in result.rulings
        for side, value in (("base", each.base), ("head", each.head))
    ]
    yield from family("value", "What was measured, in the response's own unit (1/s, s, bytes, share).", values)
    compared = {"base": facts.base.revision or facts.base.label, "head": facts.head.revision or facts.head.label}
    yield from family("compared", "What was compared.", [({"race": race.id, **compared}, 1)], kind="info")


def _labels(each: Ruling) -> dict[str, str]:
    labels = {"response": str(each.response)}
    return {**labels, "workload": each.workload} if each.workload else labels
