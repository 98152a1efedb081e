"""Results of every kind from data, noise from the models of ``benchmarks/method``: no server, fixed seeds."""

from __future__ import annotations

import io
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks.method.noise import MODELS, blocks
from tests.core.measure.encoded import encode
from tests.factories import (
    STACKS,
    TWO_SECONDS,
    hops_of,
    make_counts,
    make_facts,
    make_failure,
    make_load,
    make_quantiles,
    make_race,
    make_result,
    make_run,
)
from tests.features.comparisons.reruns import make_claim, make_comparison, paired, rerun_of
from tests.features.regression.checks import changing, falling, grown, make_check
from tests.features.trend.test_joining import race as dated
from tests.features.tune.test_tuner import PATHS, tuning

from stackrace.base import ids
from stackrace.base.codec import pretty
from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.cli import compare
from stackrace.features.capacity import capacity_report as capacity
from stackrace.features.capacity.rate_search import HIGH, LOW, Search
from stackrace.features.capacity.trials import CapacityResult, Trial
from stackrace.features.comparisons.kind import KIND as RERUN
from stackrace.features.comparisons.model import Kind as ClaimKind
from stackrace.features.regression.kind import KIND as CHECK
from stackrace.features.regression.ruling import decide
from stackrace.features.trend.joining import joined
from stackrace.features.trend.kind import KIND as TREND
from stackrace.features.tune.model import GoalKind, TuningGoal
from stackrace.features.tune.tuning_report import KIND as TUNING
from stackrace.measure.engine.load_run import Goal
from stackrace.measure.engine.saved_run import read_saved
from stackrace.measure.launch import (
    Bottleneck,
    BottleneckKind,
    EndedBy,
    HopUsage,
    Launch,
    MemorySample,
    Shortfall,
    Slice,
)
from stackrace.measure.load import Load, LoadResult
from stackrace.race.judge.decisions import decisions
from stackrace.race.results.parts import Parts
from stackrace.race.results.race import Ending, Race
from stackrace.report import load_result
from stackrace.report.exporter import STANDING, Format, Kind, written
from stackrace.report.merged_standing import standing_of
from stackrace.report.sheet import Listing, Notes, Paragraph, Section
from stackrace.report.terminal import make_console, print_sections
from stackrace.stats.values import Question


@dataclass(frozen=True, kw_only=True)
class Result:
    """A result, shown in every form."""

    name: str
    kind: Kind[Any]
    value: Any
    """What ``kind`` shows."""

    @cached_property
    def document(self) -> dict[str, Any]:
        """Its JSON document."""
        return self.kind.document(self.value)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Its sections."""
        return tuple(self.kind.sections(self.value))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Every text of its sections, but those in tables."""
        found: list[str] = []
        for block in (block for section in self.sections for block in section.blocks):
            match block:
                case Paragraph(text=text, short=short):
                    found += [text, short] if short else [text]
                case Notes(texts=texts):
                    found += texts
                case Listing(items=items):
                    found += [f"{item.lead}{item.join}{item.text}" for item in items]
        return tuple(dict.fromkeys(found))

    @cached_property
    def screen(self) -> str:
        """What a terminal of 100 columns shows of it first."""
        out = io.StringIO()
        print_sections(self.sections, make_console(out, width=100))
        return out.getvalue()

    @cached_property
    def markdown(self) -> str:
        """Its Markdown, without escapes."""
        return re.sub(r"\\(.)", r"\1", written(self.kind, self.value, Format.MARKDOWN))

    @cached_property
    def page(self) -> str:
        """Its HTML page."""
        return written(self.kind, self.value, Format.HTML).replace("<wbr>", "")

    @cached_property
    def read(self) -> str:
        """What a reader sees of the page, without its drawings."""
        bare = re.sub(r"<style>.*?</style>|<svg.*?</svg>", " ", self.page, flags=re.DOTALL)
        return unescape(re.sub(r"<[^>]+>", "", bare))


# races


def _race_result(seed: int) -> Result:
    race = _race(seed)
    return Result(name=f"race {seed}", kind=STANDING, value=(race, standing_of(race)))


_TROUBLES = ("", "", "", "fails", "refused", "debug", "errors", "all fail", "budget", "late", "unequal")
"""What becomes of the last stack, of all, or of the race."""


def _race(seed: int) -> Race:
    dice = random.Random(seed)
    paths = STACKS[: dice.choice((2, 3, 4, 5, 7)) if seed % 17 else 1]
    levels = dice.choice(((20,), (10,), (1, 20, 100), (1, 100)))
    pages = dice.choice(((), (), (), ("pages", "search")))
    many = dice.choice((1, 2, 3, 4, 6, 10, 16))
    trouble = dice.choice(_TROUBLES)
    apart = dice.choice((0.0, 0.0, 0.005, 0.03, 0.3))
    waits_s = dice.choice((0.0, 0.0, 0.0, 0.3))
    drawn = _noise(seed, len(paths), many, sd=dice.choice((0.003, 0.02, 0.05)))
    launches: list[Launch] = []
    for block in range(many):
        for place in dice.sample(range(len(paths)), len(paths)):
            factor = math.exp(drawn[place, block] - apart * place)
            launches.append(
                _launch(dice, block, paths[place], levels, pages, factor, waits_s,
                        trouble if place == len(paths) - 1 or trouble in ("all fail", "debug") else "")
            )  # fmt: skip
    race = make_race(
        paths, levels, blocks=0, seed=seed, launches=tuple(launches),
        difference=dice.choice((0.05, 0.05, 0.01, 0.1, 0.33)),
        question=dice.choice((Question.WINNER, Question.WINNER, Question.RANKING)),
        elapsed_s=len(launches) * len(levels) * 2.3, repeats=dice.choice((None,) * 5 + (many,)),
        twin="", resumed=dice.choice((0, 0, 1, 3)),
        workloads={name: (f"/{name}/",) for name in pages}, urls=() if pages else ("/", "/items/"),
        facts=tuple(replace(make_facts(path), versions={**make_facts(path).versions, "python": "3.12.1"})
                    for path in paths),
    )  # fmt: skip
    endings = (Ending.BUDGET, Ending.BUDGET, Ending.HOPELESS, Ending.INTERRUPTED, None)
    answered = many > 1 and decisions(replace(race, ending=None)).settled
    ending = Ending.COMPLETED if race.repeats else Ending.ANSWERED if answered else dice.choice(endings)
    return replace(race, ending=ending, budget_s=0.0 if race.repeats else race.elapsed_s)


def _noise(seed: int, stacks: int, launches: int, *, sd: float) -> Any:
    model = MODELS[seed % len(MODELS)]
    return blocks(model, np.random.default_rng(seed), 1, stacks, launches, sd)[0]


def _launch(
    dice: random.Random, block: int, path: str, levels: tuple[int, ...], pages: tuple[str, ...], factor: float,
    waits_s: float, trouble: str,
) -> Launch:  # fmt: skip
    identifier = ids.encode(dice.getrandbits(64))
    if trouble in ("fails", "all fail"):
        return Launch(id=identifier, block=block, stack=path, failure=make_failure())
    if trouble == "late" and block:
        short = Shortfall(ended_by=EndedBy.BUDGET, spent_s={"resting_s": 3.0})
        return Launch(id=identifier, block=block, stack=path, ready_s=1.0, shortfall=short)
    slices = []
    for level in levels:
        for page in pages or ("",):
            slices.append(_slice(dice, len(slices), path, make_load(level), page, factor, waits_s, trouble))
    memory = (MemorySample(at_s=1.0, pss_bytes={hop: 2**26 + len(path) * 2**20 for hop in hops_of(path)}),)
    return Launch(id=identifier, block=block, stack=path, ready_s=dice.uniform(0.3, 2.5), slices=tuple(slices),
                  memory=memory)  # fmt: skip


_FINDINGS = {
    "refused": Finding(check="steal", effect=Effect.INVALIDATES, value=0.08, limit=0.05),
    "debug": Finding(check="debug-mode", effect=Effect.WARNS),
}


def _slice(
    dice: random.Random, index: int, path: str, load: Load, page: str, factor: float, waits_s: float, trouble: str
) -> Slice:
    most = load.concurrency / waits_s if waits_s else math.inf
    speed = min(1500 * factor * load.concurrency / (load.concurrency + 2.5), most * math.exp(dice.gauss(0, 0.002)))
    errors = dice.choice((0, 1, 7)) if trouble == "errors" else 0
    result = _with_histogram(make_result(speed, load=load, errors=errors), waits_s)
    findings = (_FINDINGS[trouble],) if trouble in _FINDINGS and dice.random() < 0.9 else ()
    spent_s = (0.05 if waits_s else 0.9) * TWO_SECONDS
    hops = hops_of(path)
    usage = tuple(
        HopUsage(hop=hop, cpu_s=spent_s / len(hops) / factor, processes=2, threads=2,
                 pss_bytes=2**26 + len(path) * 2**20)
        for hop in hops
    )  # fmt: skip
    at_once = speed * waits_s
    all_wait = Bottleneck(
        kind=BottleneckKind.WAITING, places=load.concurrency, unit="connection", at_once=at_once, page_s=waits_s
    )
    is_full = at_once > 0.9 * load.concurrency
    return Slice(
        index=index, load=load, workload=page, result=result, usage=usage, verdict=Verdict(findings),
        bottleneck=all_wait if is_full else None,
    )  # fmt: skip


def _with_histogram(result: LoadResult, waits_s: float = 0.0) -> LoadResult:
    """Return ``result`` with its answers spread from 20 % below the middle to 20 % above."""
    middle_s = waits_s or result.latency.p50
    marks = [result.counts.ok * step // 41 for step in range(42)]
    counts = {round(1e9 * middle_s * (0.8 + 0.01 * step)): marks[step + 1] - marks[step] for step in range(41)}
    latency = make_quantiles(middle_s, count=result.counts.ok)
    return replace(result, histogram=encode(counts), latency=replace(latency, p99=middle_s * 1.19))


# checks


def _check(seed: int) -> Result:
    dice = random.Random(f"check {seed}")
    asked = dice.choice((
        {}, {"slower": 0.06}, {"slower": 0.3}, {"memory": 0.5}, {"cpu": 0.2}, {"start": 0.4}, {"errors": 40},
        {"slow": 0.02, "rate": 200.0}, {"rate": 40.0},
    ))  # fmt: skip
    ending = dice.choice((Ending.BUDGET, Ending.ANSWERED, Ending.INTERRUPTED, Ending.EXHAUSTED))
    race = make_check(blocks=dice.choice((1, 2, 4, 8, 12)), noise=dice.choice((0.002, 0.02, 0.08)), seed=seed,
                      ending=ending, **asked)  # fmt: skip
    if dice.random() < 0.2:
        race = falling(race, 0, side=dice.choice(("head", "base")))
    elif dice.random() < 0.2:
        race = grown(race, 1000)
    elif dice.random() < 0.2:
        race = changing(race, "head")
    if ending is Ending.ANSWERED and not decide(replace(race, ending=None)).settled:
        race = replace(race, ending=Ending.BUDGET)
    return Result(name=f"check {seed}", kind=CHECK, value=race)


# tunings


def _tuning(seed: int) -> Result:
    dice = random.Random(f"tuning {seed}")
    tried = PATHS[: dice.choice((1, 2, 4, 7))]
    rounds = dice.choice((1, 2, 4, 7))
    drawn = _noise(seed, len(tried), rounds, sd=dice.choice((0.005, 0.05)))
    speeds = dice.choice(((400, 100, 200, 800, 1500, 1100, 700), (1000, 1010, 990, 1005, 1000, 995, 1020)))
    launches = [
        _launch(dice, block, path, (10,), (), speeds[place] / 1200 * math.exp(drawn[place, block]), 0.0,
                dice.choice(("", "", "", "refused" if seed % 5 == 0 else "")))
        for block in range(rounds)
        for place, path in enumerate(tried)
        if not block or dice.random() < 0.8
    ]  # fmt: skip
    goal = TuningGoal(kind=dice.choice((GoalKind.THROUGHPUT, GoalKind.THROUGHPUT, GoalKind.LATENCY)))
    race = make_race(
        PATHS, (10,), blocks=0, seed=seed, launches=tuple(launches), elapsed_s=3.0 * len(launches),
        ending=dice.choice((Ending.ANSWERED, Ending.BUDGET, Ending.INTERRUPTED)),
        parts=Parts().having(tuning(goal=goal)),
    )  # fmt: skip
    return Result(name=f"tuning {seed}", kind=TUNING, value=race)


# runs of the load engine


def _load(seed: int) -> Result:
    return Result(name=f"load {seed}", kind=load_result.KIND, value=_run(random.Random(f"load {seed}")))


def _run(dice: random.Random, rate_per_s: float | None = None, middle_s: float = 0.01) -> Any:
    rate_per_s = rate_per_s or dice.choice((None, 100.0, 1000.0))
    load = make_load(dice.choice((1, 20)), rate_per_s=rate_per_s, poisson=rate_per_s is not None)
    ok = dice.choice((0, 1, 87, 1999))
    is_short = rate_per_s is not None and dice.random() < 0.5
    counts = make_counts(
        ok, non2xx=dice.choice((0, 1, 8)), failed=dice.choice(({}, {"read": 1}, {"body": 3})),
        in_flight=dice.choice((0, 1, 116)), unsent=11 * is_short, timed_out=dice.choice((0, 1, 2)),
    )  # fmt: skip
    classes = {"2xx": ok, "5xx": counts.non2xx}
    result = _with_histogram(
        replace(make_result(max(ok, 1) / TWO_SECONDS, load=load), counts=counts, status_classes=classes), middle_s
    )
    missing = counts.unsent + counts.in_flight // 2
    verdict = Verdict()
    if is_short:
        facts = {"missing": missing, "scheduled": counts.scheduled, "rate_per_s": rate_per_s,
                 "throughput_per_s": ok / TWO_SECONDS}  # fmt: skip
        overload = Finding(check="overload", effect=Effect.INVALIDATES, value=missing / counts.scheduled,
                           limit=0.005, facts=facts)  # fmt: skip
        verdict = Verdict((overload,))
    return make_run(load, result, verdict=verdict)


def _comparison(seed: int) -> Result:
    dice, pair = random.Random(f"compared {seed}"), []
    with TemporaryDirectory() as folder:
        for name in ("before.json", "after.json"):
            path = Path(folder) / name
            path.write_text(pretty(load_result.document(_run(dice))), encoding="utf-8")
            pair.append(read_saved(path))
    return Result(name=f"compared {seed}", kind=compare._KIND, value=tuple(pair))


def _capacity(seed: int) -> Result:
    dice = random.Random(f"capacity {seed}")
    goal = Goal(limits_s=dice.choice(({"p99": 0.05}, {"p50": 0.02, "p99": 0.06})))
    truth, reached = dice.choice((0.0, 300.0, 700.0, math.inf)), 1000.0
    allowed = {name: 1 - q for name, q in zip(goal.limits_s, goal.quantiles, strict=True)}
    search = Search(low=LOW * reached, high=HIGH * reached, allowed=allowed, most=dice.choice((math.inf, 1050.0)))
    trials: list[Trial] = []
    while (rate := search.next_rate) is not None:
        load = make_load(100, rate_per_s=rate, poisson=True, requests=5000)
        middle_s = 0.01 * (1 + math.exp(dice.gauss(0, 0.1)) * 20 * max(rate / truth - 1, 0) if truth else 20)
        ran = make_run(load, _with_histogram(make_result(rate, load=load), middle_s))
        trials.append(Trial(ran=ran, missed=tuple(goal.misses(ran.result))))
        search = search.after(trials[-1].tried(goal))
    closed = make_run(make_load(4), _with_histogram(make_result(reached), 0.004))
    found = CapacityResult(goal=goal, closed=closed, idle_s=0.004, trials=tuple(trials), search=search,
                           notes=(), interrupted=dice.random() < 0.2)  # fmt: skip
    return Result(name=f"capacity {seed}", kind=capacity._KIND, value=found)


# races of some time


def _trend(seed: int) -> Result:
    faster = (1.0, 0.5, 1.3, 0.97)[seed % 4]
    days = (3, 12, 14, 12)[seed % 4]
    races = [dated(day, faster=faster if day > 6 else 1.0, seed=seed) for day in range(1, days + 1)]
    trend = joined("shop", [(each, standing_of(each)) for each in races])
    return Result(name=f"trend {seed}", kind=TREND, value=trend)


def _rerun(seed: int) -> Result:
    dice = random.Random(f"rerun {seed}")
    kind = dice.choice([kind for kind in ClaimKind if kind.is_ratio])
    launches = dice.choice((1, 2, 4, 9))
    drawn = np.exp(_noise(seed, 2, launches, sd=0.03)) * [[300.0], [dice.choice((100.0, 290.0, 300.0, 450.0))]]
    rerun = rerun_of(make_comparison(make_claim(kind, ratio=1.5)), paired(*drawn))
    return Result(name=f"rerun {seed}", kind=RERUN, value=rerun)


MAKERS: dict[str, tuple[Callable[[int], Result], int]] = {
    "races": (_race_result, 100),
    "checks": (_check, 35),
    "tunings": (_tuning, 25),
    "loads": (_load, 12),
    "comparisons": (_comparison, 6),
    "capacities": (_capacity, 10),
    "trends": (_trend, 4),
    "reruns": (_rerun, 12),
}
"""What makes a result of each kind from a seed, and how many seeds there are."""
