"""A check as CI systems read it: as JUnit XML, and as OpenMetrics text for a time-series database.

JUnit has a test case for each response, and one for launches where some of the head's failed. A slowdown is a
failure. What could not be settled is skipped, with the reason: it is neither good nor bad.
Sources: the schema of Jenkins' xunit plugin, junit-10.xsd; GitLab, "Unit test reports"; the RFC-like specification
OpenMetrics 1.0.0: names, escapes, units, and ``# EOF``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from xml.etree import ElementTree as Tree

from ....base.text import one_line
from ....race.results.comparison import Change, Outcome, Ruling, State
from ....race.results.race import Race
from ..model import GateAnswer, gate_of
from . import words


def junit(race: Race, result: GateAnswer) -> str:
    """Return the document as text that ends with a newline."""
    failed = result.failed
    unconfirmed = failed.head > 0 and not failed.confirmed
    counts = {
        "tests": str(len(result.rulings) + (failed.head > 0)),
        "failures": str(len(result.slower) + failed.confirmed),
        "errors": "0",
    }
    skipped = sum(_is_open(each, result) for each in result.rulings) + unconfirmed
    suite = Tree.Element(
        "testsuite",
        name="stackrace check",
        timestamp=race.started_at.partition("+")[0],
        time=f"{race.elapsed_s:.3f}",
        skipped=str(skipped),
    )
    _properties(suite, race)
    for each in result.rulings:
        _case(suite, race, result, each)
    if failed.head:
        case = _opened(suite, race, "launches")
        if failed.confirmed:
            found = Tree.SubElement(case, "failure", message=words.failed(race, result), type="failed")
            found.text = one_line(words.answer(race, result))
        else:
            Tree.SubElement(case, "skipped", message=one_line(f"{words.failed(race, result)}: not confirmed"))
        Tree.SubElement(case, "system-out").text = one_line(words.failed(race, result))
    Tree.SubElement(suite, "system-out").text = one_line(words.answer(race, result))
    suites = Tree.Element("testsuites", name="stackrace", time=f"{race.elapsed_s:.3f}")
    for element in (suites, suite):
        for name, count in counts.items():
            element.set(name, count)
    suites.append(suite)
    Tree.indent(suites)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{Tree.tostring(suites, encoding='unicode')}\n"


def _properties(suite: Tree.Element, race: Race) -> None:
    properties = Tree.SubElement(suite, "properties")
    facts = {
        "race": race.id,
        "stack": gate_of(race).head.stack,
        "load": race.loads[0].label,
        "base": words.contender(gate_of(race).base, gate_of(race).head),
        "head": words.contender(gate_of(race).head, gate_of(race).base),
    }
    for name, value in facts.items():
        Tree.SubElement(properties, "property", name=name, value=one_line(value))


def _case(suite: Tree.Element, race: Race, result: GateAnswer, each: Ruling) -> None:
    case = _opened(suite, race, words.name(each))
    text = one_line(f"{words.change(each)}, allowed {words.allowed(each)}: {words.ruling(each)}")
    if each.state is State.SLOWER:
        Tree.SubElement(case, "failure", message=text, type="slower").text = one_line(words.answer(race, result))
    elif _is_open(each, result):
        Tree.SubElement(case, "skipped", message=one_line(f"{text}. {words.answer(race, result)}"))
    Tree.SubElement(case, "system-out").text = text


def _opened(suite: Tree.Element, race: Race, name: str) -> Tree.Element:
    return Tree.SubElement(
        suite, "testcase", classname=f"stackrace.{_dotted(race.app)}", name=one_line(name), time="0"
    )


def _is_open(each: Ruling, result: GateAnswer) -> bool:
    """Tell whether a check says neither yes nor no of a response."""
    return each.state is not State.SLOWER and (each.state is not State.CLEAR or result.outcome is Outcome.REFUSED)


def _dotted(name: str) -> str:
    return one_line(name).replace(" ", "_").replace(".", "_") or "app"


_NOTHING = Change(value=math.nan)

_FAMILIES: tuple[tuple[str, str, Callable[[Ruling], float | None]], ...] = (
    ("change_ratio", "How much worse the head is: 0.05 for 5 %.", lambda each: (each.change or _NOTHING).value),
    ("change_low_ratio", "The lower limit of that.", lambda each: (each.change or _NOTHING).low),
    ("change_high_ratio", "The upper limit: so much could have been missed.", lambda each: each.missed),
    ("allowed_ratio", "What is allowed of that.", lambda each: each.terms.allowance),
)


def openmetrics(race: Race, result: GateAnswer) -> str:
    """Return the exposition, which ends with ``# EOF`` and a newline."""
    return "".join(f"{line}\n" for line in _lines(race, result))


def _lines(race: Race, result: GateAnswer) -> Iterator[str]:
    own = {"app": race.app, "stack": gate_of(race).head.stack, "load": race.loads[0].label}
    yield from _head("outcome", "What came of the check.", kind="stateset")
    for outcome in Outcome:
        yield _sample("outcome", {**own, "stackrace_check_outcome": outcome.value}, outcome is result.outcome)
    yield from _head("pairs", "Pairs of launches.")
    yield _sample("pairs", own, result.blocks)
    yield from _head("failed_launches", "Launches that did not come up, answered wrongly, or died.")
    for side, number in (("base", result.failed.base), ("head", result.failed.head)):
        yield _sample("failed_launches", {**own, "side": side}, number)
    yield from _head("elapsed_seconds", "How long the check took.", unit="seconds")
    yield _sample("elapsed_seconds", own, race.elapsed_s)
    for name, about, of in _FAMILIES:
        yield from _head(name, about, unit="ratio")
        for each in result.rulings:
            value = of(each)
            if value is not None and math.isfinite(value):
                yield _sample(name, {**own, **_labels(each)}, value)
    yield from _head("value", "What was measured, in the response's own unit (1/s, s, bytes, share).")
    for each in result.rulings:
        for side, value in (("base", each.base), ("head", each.head)):
            if value is not None:
                yield _sample("value", {**own, **_labels(each), "side": side}, value)
    yield from _head("compared", "What was compared.", kind="info")
    yield _sample(
        "compared_info",
        {**own, "race": race.id, "base": gate_of(race).base.revision or gate_of(race).base.label,
         "head": gate_of(race).head.revision or gate_of(race).head.label},
        1,
    )  # fmt: skip
    yield "# EOF"


def _labels(each: Ruling) -> dict[str, str]:
    labels = {"response": str(each.response)}
    return {**labels, "workload": each.workload} if each.workload else labels


def _head(name: str, about: str, *, kind: str = "gauge", unit: str = "") -> Iterator[str]:
    yield f"# TYPE stackrace_check_{name} {kind}"
    if unit:
        yield f"# UNIT stackrace_check_{name} {unit}"
    yield f"# HELP stackrace_check_{name} {about}"


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    written = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"stackrace_check_{name}{{{written}}} {float(value):.10g}"


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')
