"""A check as OpenMetrics text, for a time-series database.

Source: RFC-like specification OpenMetrics 1.0.0: names, escapes, units, and ``# EOF``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from ....base.text import one_line
from ....race.results.comparison import Change, Outcome, Ruling
from ....race.results.race import Race
from ..model import GateAnswer, gate_of

_NOTHING = Change(value=math.nan)

_FAMILIES: tuple[tuple[str, str, Callable[[Ruling], float | None]], ...] = (
    ("change_ratio", "How much worse the head is: 0.05 for 5 %.", lambda each: (each.change or _NOTHING).value),
    ("change_low_ratio", "The lower limit of that.", lambda each: (each.change or _NOTHING).low),
    ("change_high_ratio", "The upper limit: so much could have been missed.", lambda each: each.missed),
    ("allowed_ratio", "What is allowed of that.", lambda each: each.terms.allowance),
)


def export(race: Race, result: GateAnswer) -> str:
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
