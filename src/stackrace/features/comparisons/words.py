"""Sentences for all reports of a rerun, so that terminal, page, Markdown and JSON say the same."""

from __future__ import annotations

import math
from collections import Counter

from ...base.numbers import NOTHING, Interval, count, duration, number, percent, things
from ...measure.host import HostFacts
from ...report import figures
from ...report.figures import listed
from ...report.words import findings
from ...report.words.answer_sentence import Flags
from .model import Basis, Claim, Comparison, Kind, Metric
from .rerun import Cause, ClaimOutcome, Gap, MixOutcome, Mode, PartOutcome, Rerun, Ruling, TableOutcome

FLAGS = Flags(budget="--quick --budget", takes_others=False)
"""Flags of a rerun: others would change the comparison."""

_BASES = {
    Basis.MEASURED: "",
    Basis.ANNOUNCED: "announced, not measured",
    Basis.WITHDRAWN: "measured, then withdrawn",
}

_DIRECTIONS = {
    Kind.MORE: "> 1",
    Kind.LESS: "< 1",
    Kind.NO_MORE: "≤ 1",
    Kind.SAME: "≈ 1",
    Kind.FAILS: "fails",
    Kind.LIVES: "lives",
}

CONCLUSIONS = {
    Ruling.HOLDS: "What holds today",
    Ruling.REVERSED: "What is reversed today",
    Ruling.NOT_SO: "What does not hold today",
    Ruling.SAME: "What makes no difference that matters",
    Ruling.UNDECIDED: "What cannot be told",
    Ruling.NOT_MEASURED: "What was not measured",
}

_GAPS = {
    Cause.NOT_RUN: "its part could not be run",
    Cause.LEFT_OUT: "was left out",
    Cause.FAILED: "has not been measured yet",
    Cause.NEVER_MET: "the two were never measured in the same block",
}

_TOO_LONG_S = 86_400.0
"""Seconds beyond which a forecast gives no figure."""

_SAYS_NOTHING = 100.0
"""Multiple of their value beyond which limits are useless."""

_METRICS = {
    Metric.THROUGHPUT: "requests/s",
    Metric.TIME: "time/request",
    Metric.LATENCY: "mean time",
    Metric.LONGEST: "longest",
    Metric.MEMORY: "memory",
    Metric.ERRORS: "errors",
    Metric.CPU: "CPU",
}


def title(comparison: Comparison) -> str:
    """Return the comparison's title with its year."""
    return f"{comparison.title} ({comparison.year}), run again"


def table_title(rerun: Rerun, outcome: TableOutcome) -> str:
    """Return a table's title, with its part if there are several."""
    part = f"{rerun.comparison.part(outcome.table.part).title}: " if len(rerun.comparison.parts) > 1 else ""
    return f"{part}{outcome.table.title}, against the first row, then → now"


def headline(rerun: Rerun) -> str:
    """Return the sentence that counts the claims by outcome."""
    counts = Counter(outcome.ruling for outcome in rerun.claims)
    phrases = (
        (counts[Ruling.HOLDS], "holds", "hold"),
        (counts[Ruling.REVERSED], "is reversed", "are reversed"),
        (counts[Ruling.NOT_SO], "does not hold", "do not hold"),
        (counts[Ruling.SAME], "makes no difference that matters", "make no difference that matters"),
        (counts[Ruling.UNDECIDED], "cannot be told", "cannot be told"),
        (counts[Ruling.NOT_MEASURED], "was not measured", "were not measured"),
    )
    parts = [f"{number} {singular if number == 1 else plural}" for number, singular, plural in phrases if number]
    return f"Of {things(len(rerun.claims), 'claim')}, {listed(parts)}."


def about(rerun: Rerun) -> str:
    """Return the sentences about the machines and the day: only ratios may be compared."""
    source = rerun.comparison.source
    how = f"{_quickly(rerun.comparison)} (--quick)" if rerun.kept.mode is Mode.QUICK else "by the original protocol"
    where_now = f" on {machine(rerun.host)}" if rerun.host is not None else ""
    return (
        f"Then: {source.machine.rstrip('.')}. Now: {rerun.kept.made_at[:10]}, {how}{where_now}. "
        "Only ratios are compared: the hardware differs."
    )


def command(rerun: Rerun) -> str:
    """Return the command that runs the comparison again."""
    return f"stackrace run historic/{rerun.comparison.name}" + (" --quick" if rerun.kept.mode is Mode.QUICK else "")


def machine(host: HostFacts | None) -> str:
    """Return the name of the machine; empty if no part was run."""
    if host is None:
        return ""
    virtual = f", {host.virtual}" if host.virtual else ""
    memory = count(host.memory_bytes / 1024**3)
    return f"{host.cpu}, {host.cores} cores, {memory} GiB, {host.system}{virtual}"


def _quickly(comparison: Comparison) -> str:
    in_runs = {part.quick_repeats is not None for part in comparison.parts}
    if len(in_runs) > 1:
        return "in short slices, or in shorter runs"
    return "in shorter runs" if True in in_runs else "in short slices"


def limits_note(rerun: Rerun) -> str:
    """Return the sentence about the confidence of the rulings, and about their limits."""
    if not rerun.family:
        return "There were too few blocks for any limits; give more time."
    any_of = f"any of these {rerun.family} ratios" if rerun.family > 1 else "this ratio"
    undecided = [
        outcome.blocks for outcome in rerun.claims if outcome.ruling is Ruling.UNDECIDED and outcome.now is not None
    ]
    few = f" Undecided claims had as few as {min(undecided)} blocks." if undecided else ""
    return (
        f"With {percent(rerun.confidence)} confidence no ruling about {any_of} is wrong; the limits are "
        f"those of the ruling.{few}"
    )


def where(claim: Claim) -> str:
    """Return the cell's workload and load level, and the metric if it is not throughput."""
    names = dict.fromkeys(cell.workload for cell in (claim.this, claim.that) if cell is not None and cell.workload)
    metric = "" if claim.metric in (Metric.THROUGHPUT, Metric.ERRORS) else _METRICS[claim.metric]
    return ", ".join(filter(None, (" ÷ ".join(names), f"c={claim.this.concurrency}", metric)))


def sides(claim: Claim) -> str:
    """Return the two sides of the ratio; for a claim of failing its one side."""
    this = claim.this.technique
    return this if claim.that is None else f"{this} ÷ {claim.that.technique}"


def then(claim: Claim) -> str:
    """Return the published ratio, or the direction if that is all."""
    if claim.ratio is not None:
        return number(claim.ratio)
    return _DIRECTIONS[claim.kind]


def now(outcome: ClaimOutcome) -> str:
    """Return our ratio with its limits; for a claim of failing the failures."""
    if outcome.now is None:
        return "" if outcome.ruling is Ruling.NOT_MEASURED else reason(outcome)
    limits = "" if _boundless(outcome.now) else figures.limits(outcome.now, number)
    return number(outcome.now.value) + (f" ({limits})" if limits else "")


def reason(outcome: ClaimOutcome) -> str:
    """Return why a claim was not measured, or how many launches failed for a claim of failing; empty otherwise."""
    if outcome.survival is not None:
        survival = outcome.survival
        share = percent(survival.errors)
        return f"{survival.failed} of {survival.launches} launches failed, {share} of all requests"
    return "" if outcome.gap is None else f"{outcome.gap.technique} {_cause(outcome.gap)}".lstrip()


def _cause(gap: Gap) -> str:
    if gap.failure is not None:
        return f"{findings.failure_kind(gap.failure)}: {findings.failure_message(gap.failure)}"
    if gap.finding is not None:
        return f"was refused: {findings.seen(gap.finding)}"
    return _GAPS[gap.cause]


def _boundless(ratio: Interval) -> bool:
    if ratio.low is None or ratio.high is None:
        return False
    return ratio.low * _SAYS_NOTHING < ratio.value or ratio.high > ratio.value * _SAYS_NOTHING


def remark(outcome: ClaimOutcome) -> str:
    """Return remarks on the ruling: why nothing was measured, the time missing, whether the ratio agrees."""
    if outcome.ruling is Ruling.NOT_MEASURED:
        return reason(outcome)
    remarks = []
    boundless = outcome.now is not None and _boundless(outcome.now)
    if outcome.ruling is Ruling.NOT_SO:
        remarks.append(f"a difference of {percent(outcome.difference)} or more is excluded")
    elif outcome.ruling is Ruling.UNDECIDED and outcome.more_s is not None and not boundless:
        remarks.append(_more(outcome.more_s))
    if outcome.now is not None and outcome.now.low is None:
        remarks.append("no limits: too few blocks")
    elif boundless:
        remarks.append(f"limits beyond a factor of {number(_SAYS_NOTHING)}: too few blocks")
    if outcome.agrees is not None and not boundless:
        remarks.append(f"the published ratio is {'within' if outcome.agrees else 'outside'} our limits")
    return "; ".join(remarks)


def _more(seconds: float) -> str:
    if seconds > _TOO_LONG_S:
        return "more than a day of racing would decide"
    minutes = max(math.ceil(seconds / 60), 1)
    if minutes >= 100:
        return f"about {math.ceil(minutes / 60)} more hours would decide"
    return f"about {things(minutes, 'more minute')} would decide"


def ratio(value: float | None) -> str:
    """Return a ratio of a table."""
    return NOTHING if value is None else number(value)


def basis(claim: Claim) -> str:
    """Return the evidence for the claim, unless it was a valid measurement."""
    return _BASES[claim.basis]


def part_sentence(rerun: Rerun, outcome: PartOutcome, *, full: bool = True) -> str:
    """Return the sentence about a part's race, ``full`` with its own standing, or why there is none."""
    name = rerun.comparison.part(outcome.part).title
    if outcome.race is None:
        return f"{name}: not run: {outcome.trouble}"
    answer = f" {outcome.answer}" if full else ""
    return f"{name}:{answer} Race {outcome.race}, {duration(outcome.elapsed_s)}."


def mix_sentence(outcome: MixOutcome) -> str:
    """Return the sentence about a mix, with the predictions of both arithmetics from the rungs."""
    now, then = outcome.now, outcome.then
    begin = (
        f"The mix reached {number(outcome.reached)} of the rate of {outcome.main} alone. From today's rungs the "
        f"mean of the rates, its author's arithmetic, predicts {number(now.mean_of_rates)}, the mean of the "
        f"times {number(now.rate_of_mean_time)}"
    )
    if then is None:
        return f"{begin}."
    rates = f"{number(then.mean_of_rates)} and {number(then.rate_of_mean_time)}"
    return f"{begin}; from the rungs of then they predict {rates}."
