"""How often a check raises a false alarm, and how soon it finds what is slower.

    python -m benchmarks.check --quick                    a look at all of it, in a minute
    python -m benchmarks.check --checks 1000              simulated checks
    python -m benchmarks.check --record 20                record blocks of one app twice, 20 min at most
    python -m benchmarks.check --recorded                 replay checks on recorded blocks
    python -m benchmarks.check --real 5 --minutes 60      real checks of commits that change nothing
    python -m benchmarks.check --real 5 --sleeps 5        real checks of commits that sleep 5 % longer
    python -m benchmarks.check --real 5 --wrong 0.5       real checks of commits with a wrong answer in 200

Simulated checks have known truths: of two equal sides every failure is a false alarm. Recorded blocks are of one
app raced against itself; a check takes blocks of one race in their order, from a random one on, its sides exchanged
or not, and a slowdown is multiplied in.
Real ones are `stackrace check` as anybody types it. All rows are kept from run to run, in benchmarks/gate/seen.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from stackrace.features.regression.model import TERMS
from stackrace.race.results.comparison import Outcome, Response

from .gate.blocks import MODELS, REQUESTS, Blocks, Noise, drawn, simulated, slowed
from .gate.replay import Replay, replayed, threshold
from .method._kept import Kept
from .method.shares import interval
from .rig.tables import markdown

SEEN = Path(__file__).parent / "gate" / "seen"
RECORDED, REAL = SEEN / "blocks.jsonl", SEEN / "checks.jsonl"

TITLES = ("noise", "head", "checks", "failed", "95 % limits", "passed", "undecided", "median time",
          "not ruled out", "5 % threshold", "10 % threshold")  # fmt: skip

AT_LIMIT = 1 / (1 - TERMS[Response.THROUGHPUT].limit) - 1
"""Requests that sleep so much longer lower the throughput by just what a pass must have ruled out."""

TRUTHS: tuple[tuple[str, float, bool, float], ...] = (
    ("the same", 0.0, False, 0.0),
    ("+5 % CPU", 0.05, False, 0.0),
    ("+10 % CPU", 0.10, False, 0.0),
    ("sleeps 5 % longer", 0.05, True, 0.0),
    ("at the limit", AT_LIMIT, True, 0.0),
    ("2 % wait 50 ms", 0.0, False, 0.02),
)
"""What the head is: a name, by how much it is slower, whether it only waits longer, and the share of its requests
that wait alone."""

Maker = Callable[[np.random.Generator, bool], Blocks]


def main() -> None:
    """Print the tables, and write them where asked."""
    given = _given()
    if given.record:
        from .gate.real import record

        record(Kept(RECORDED), minutes=given.record)
    if given.real:
        from .gate.real import check_for_real

        told = {"sleeps": given.sleeps, "wrong": given.wrong, "budget_s": given.budget, "minutes": given.minutes}
        check_for_real(Kept(REAL), checks=given.real, **told)
    texts = []
    if not given.record and not given.real and not given.recorded:
        makers = {model.name: _simulating(model, given.budget, given.requests) for model in MODELS}
        texts.append(_table("Simulated checks", makers, given.checks, given.budget))
    rows = Kept(RECORDED).rows
    if given.recorded:
        if len(rows) < 10:
            raise SystemExit(f"only {len(rows)} recorded blocks; record some first: --record 20")
        makers = {"recorded": lambda dice, waits: drawn(rows, dice, budget_s=given.budget, requests=given.requests)}
        texts.append(_table(f"Checks replayed on {len(rows)} recorded blocks", makers, given.checks, given.budget))
    if real := Kept(REAL).rows:
        texts.append(_real(real))
    if given.markdown:
        given.markdown.write_text("\n\n".join(texts) + "\n", encoding="utf-8")


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=200, help="checks per cell; 200 by default")
    parser.add_argument("--budget", type=float, default=600.0, help="seconds for each check; 600 by default")
    parser.add_argument(
        "--requests", type=int, default=REQUESTS, help=f"answers of a launch; {REQUESTS} by default"
    )
    parser.add_argument("--quick", action="store_true", help="10 checks per cell, to see that all of it runs")
    parser.add_argument(
        "--record", type=float, metavar="MIN", default=0.0, help="record blocks for so many minutes"
    )
    parser.add_argument("--recorded", action="store_true", help="replay on recorded blocks only")
    parser.add_argument("--real", type=int, metavar="N", default=0, help="make N real checks")
    parser.add_argument(
        "--sleeps", type=float, metavar="PERCENT", default=0.0, help="of real checks: the head sleeps longer"
    )
    parser.add_argument(
        "--wrong", type=float, metavar="PERCENT", default=0.0, help="of real checks: so many answers are wrong"
    )
    parser.add_argument("--minutes", type=float, help="begin no other real check after so many")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the tables there, too")
    given = parser.parse_args()
    if given.quick:
        given.checks, given.budget = 10, min(given.budget, 120.0)
    return given


def _simulating(model: Noise, budget_s: float, requests: int) -> Maker:
    return lambda dice, waits: simulated(model, dice, budget_s=budget_s, waits=waits, requests=requests)


def _table(title: str, makers: dict[str, Maker], checks: int, budget_s: float) -> str:
    """Print a table as its rows come, and return it."""
    lines = [f"## {title}\n\nAt most {budget_s:g} s each.\n", markdown(TITLES), markdown(["---"] * len(TITLES))]
    print(*lines, sep="\n", flush=True)
    for row in _rows(makers, checks, budget_s):
        lines.append(markdown(row))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def _rows(makers: dict[str, Maker], checks: int, budget_s: float) -> Iterator[Sequence[str]]:
    for name, make in makers.items():
        for truth, share, sleeps, waiting in TRUTHS:
            dice = np.random.default_rng(
                [7, zlib.crc32(name.encode()), round(1000 * share), sleeps, round(1000 * waiting)]
            )
            made = [slowed(make(dice, sleeps), share, sleeps=sleeps, waiting=waiting) for _ in range(checks)]
            came = [replayed(blocks, budget_s=budget_s) for blocks in made]
            over = [sum(_over(blocks, percent) for blocks in made) / checks for percent in (5.0, 10.0)]
            yield (name, truth, *_summed(came), *(f"{each:.0%}" for each in over))


def _over(blocks: Blocks, percent: float) -> bool:
    """Tell whether a threshold would have found anything slower, of the three responses that people look at."""
    return any(
        threshold(blocks, response, percent) for response in (Response.THROUGHPUT, Response.CPU, Response.P99)
    )


def _summed(came: Sequence[Replay]) -> Iterator[str]:
    failed = sum(each.outcome is Outcome.FAILED for each in came)
    low, high = interval(failed, len(came))
    missed = [each.missed for each in came if each.outcome is Outcome.PASSED and each.missed is not None]
    yield f"{len(came)}"
    yield f"{failed / len(came):.1%}"
    yield f"{low:.1%}–{high:.1%}"
    yield f"{sum(each.outcome is Outcome.PASSED for each in came) / len(came):.0%}"
    yield f"{sum(each.outcome is Outcome.UNDECIDED for each in came) / len(came):.0%}"
    yield f"{median(each.seconds for each in came):.0f} s"
    yield f"{median(missed):.1%}" if missed else "–"


def _real(rows: Sequence[dict[str, object]]) -> str:
    titles = ("head", "checks", "passed", "failed", "undecided", "refused", "median time")
    lines = ["## Real checks\n", markdown(titles), markdown(["---"] * len(titles))]
    for head in dict.fromkeys(str(row["head"]) for row in rows):
        own = [row for row in rows if row["head"] == head]
        counts = [sum(row["outcome"] == outcome for row in own) for outcome in Outcome]
        passed, failed, undecided, refused = counts
        lasted = median(float(str(row["elapsed_s"])) for row in own)
        lines.append(markdown((head, *map(str, (len(own), passed, failed, undecided, refused)), f"{lasted:.0f} s")))
    print(*lines, sep="\n", flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
