"""A check as JUnit XML: a test case for each response, and one for launches where some of the head's failed.

A slowdown is a failure. What could not be settled is skipped, with the reason: it is neither good nor bad.
Source: the schema of Jenkins' xunit plugin, junit-10.xsd; GitLab, "Unit test reports".
"""

from __future__ import annotations

from xml.etree import ElementTree as Tree

from ....base.text import one_line
from ....race.results.comparison import Outcome, Ruling, State
from ....race.results.race import Race
from ..model import GateAnswer, gate_of
from . import words


def export(race: Race, result: GateAnswer) -> str:
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
