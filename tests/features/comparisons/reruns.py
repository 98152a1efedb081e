"""Small comparisons and races for the tests: every cell's throughput by block is said, nothing else varies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.factories import make_finding, make_load, make_race, make_result

from stackrace.base.verdict import Effect, Verdict
from stackrace.features.comparisons.judging import judged
from stackrace.features.comparisons.model import (
    CellName,
    Claim,
    Comparison,
    Figure,
    Kind,
    Metric,
    Part,
    Row,
    Source,
    Table,
    Technique,
)
from stackrace.features.comparisons.rerun import Kept, Mode, PartOutcome
from stackrace.measure.launch import HopUsage, Launch, Slice

ONE, OTHER = "apache+mod_wsgi:mode=embedded", "lighttpd/fastcgi/flup"


def make_slice(rate, level=1, workload="", *, errors=0, refused=False, memory=10**8):
    """A slice at ``rate`` right answers per second."""
    load = make_load(level)
    usage = (HopUsage(hop="a", cpu_s=1.0, processes=1, threads=1, pss_bytes=memory),)
    findings = (make_finding("errors", Effect.INVALIDATES),) if refused else ()
    return Slice(index=0, load=load, result=make_result(rate, load=load, errors=errors), usage=usage,
                 verdict=Verdict(findings), workload=workload)  # fmt: skip


def make_launch(stack, block, *slices, **changes):
    """A launch of these slices."""
    return Launch(id=f"{stack}-{block}", block=block, stack=stack, slices=slices, **changes)


def race_of(*launches, stacks=(ONE, OTHER), **changes):
    """A race of exactly these launches."""
    return make_race(stacks, levels=(1,), blocks=0, launches=launches, **changes)


def paired(first, second, **changes):
    """A race of ONE and OTHER, their rates by block."""
    launches = [make_launch(ONE, block, make_slice(rate)) for block, rate in enumerate(first)]
    launches += [make_launch(OTHER, block, make_slice(rate)) for block, rate in enumerate(second)]
    return race_of(*launches, **changes)


def cell(technique="one", workload="", concurrency=1):
    """A cell's names."""
    return CellName(technique=technique, workload=workload, concurrency=concurrency)


def make_claim(kind=Kind.MORE, **changes):
    """A claim about "one" and "other"."""
    that = cell("other") if kind.is_ratio else None
    claim = Claim(says="one is faster", part="race", metric=Metric.THROUGHPUT, kind=kind, this=cell(), that=that)
    return replace(claim, **changes)


def make_comparison(*claims, **changes):
    """A comparison of two techniques, 300 against 200 requests per second."""
    comparison = Comparison(
        name="sample-2001", title="One against other", year=2001,
        source=Source(machine="a machine of 2001", software="one 1.0, other 2.0", protocol="ab -n 100"),
        parts=(Part(key="race", title="One page", file=Path("race.toml"), quick_s=60.0),),
        techniques={
            "one": Technique(key="one", title="One", path=ONE),
            "other": Technique(key="other", title="Other", path=OTHER, gone="Its last release is of 2002.",
                               instead="flup, which it was."),
        },
        figures=tuple(
            Figure(part="race", cell=cell(name), metric=Metric.THROUGHPUT, value=value, unit="req/s")
            for name, value in (("one", 300.0), ("other", 200.0))
        ),
        claims=claims or (make_claim(ratio=1.5),),
        tables=(
            Table(title="Requests per second", part="race", metric=Metric.THROUGHPUT, levels=(1,),
                  rows=(Row(title="One", technique="one", workload=""),
                        Row(title="Other", technique="other", workload=""))),
        ),
    )  # fmt: skip
    return replace(comparison, **changes)


def kept_of(*parts, mode=Mode.QUICK):
    """What is kept of a rerun with these parts."""
    return Kept(id="0" * 13, name="sample-2001", made_at="2026-11-22T03:00:00+00:00", mode=mode, parts=parts)


def rerun_of(comparison, race, **changes):
    """``comparison`` judged by ``race`` (None: its part could not be run); ``changes`` are of its part."""
    if race is None:
        part = PartOutcome(part="race", trouble="mariadb is not installed")
    else:
        part = PartOutcome(part="race", race=race.id, answer="One wins.", elapsed_s=61.0)
    races = {} if race is None else {"race": race}
    return judged(comparison, kept_of(replace(part, **changes)), races)
