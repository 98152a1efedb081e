"""How long until the winner is known: dropping beaten stacks on the way, against racing all of them to the end.

    python -m benchmarks.method.time_to_winner --races 1 --budget 1800

Twelve stacks at four load levels in one exhaustive race, which measures everything. Its launches are then shown
block by block to the race's own decisions, at the same error rate, once for each design: *elimination* leaves out
what a stack did after the look that dropped it, *uniform* leaves out nothing. Both end at the first look that
settles the question. A design's time is that of the launches it needed: starting, warming up and measuring, as
they took in this race, with the rest of the elapsed time (rests, stopping) shared out evenly. A shorter race
would cut its slices anew, so that the gain shown here is the least that dropping gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from stackrace.model.launch import Launch
from stackrace.model.race import Race
from stackrace.race.standing import decisions
from stackrace.report.result import standing_of

from ._races import arena, best, options, rounds, table, write

STACKS = (
    "gunicorn:workers=1",
    "gunicorn:workers=2",
    "gunicorn:workers=1,class=gthread",
    "gunicorn:workers=2,class=gthread",
    "gunicorn:workers=1,class=gevent",
    "waitress",
    "cheroot",
    "granian",
    "bjoern",
    "uwsgi:processes=1",
    "uwsgi:processes=2",
    "nginx/http/gunicorn:workers=2",
)
LEVELS = (1, 4, 16, 64)
DESIGNS = {"elimination": True, "uniform": False}
"""The designs by name, and whether they leave out what was dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What one design came to: ``blocks``, ``launches`` and ``seconds`` until the end, and whether the end came."""

    blocks: int
    seconds: float
    launches: int
    settled: bool
    dropped: int


def replay(raced: Race, *, eliminate: bool) -> Design:
    """Show the race's blocks to its decisions one by one, as the design would have had them."""
    blocks = sorted({launch.block for launch in raced.launches})
    each_s = _overhead_s(raced)
    kept: list[Launch] = []
    dropped: frozenset[str] = frozenset()
    settled = False
    for block in blocks:
        kept += [one for one in raced.launches if one.block == block and one.stack not in dropped]
        seen = decisions(replace(raced, exhaustive=False, launches=tuple(kept)))
        settled = seen.settled
        dropped = seen.dropped if eliminate else dropped
        if settled:
            break
    return Design(
        blocks=len({one.block for one in kept}),
        seconds=_spent_s(kept) + each_s * len(kept),
        launches=len(kept),
        settled=settled,
        dropped=len(dropped),
    )


def _overhead_s(raced: Race) -> float:
    """Return what a launch takes beside its start, warm-up and slices."""
    return max(raced.elapsed_s - _spent_s(raced.launches), 0.0) / max(len(raced.launches), 1)


def _spent_s(launches: Iterable[Launch]) -> float:
    return sum(
        (one.ready_s or 0.0) + one.warmup_s + sum(part.result.duration_s for part in one.slices) for one in launches
    )


def main() -> None:
    """Run the races and print what each design would have needed."""
    parser = options(__doc__ or "", races=1, seconds=1800.0)
    parser.add_argument("--stack", action="append", help="a stack, again for more; twelve of Python's by default")
    parser.add_argument(
        "-c", "--concurrency", type=int, action="append", help="a level, again for more; 1, 4, 16, 64"
    )
    parser.add_argument("--question", choices=("winner", "ranking"), default="winner")
    given = parser.parse_args()
    stacks, levels = given.stack or STACKS, given.concurrency or LEVELS
    print(f"{len(stacks)} stacks at {len(levels)} levels, question: {given.question}", flush=True)
    rows: list[dict[str, object]] = []
    failed = 0
    with arena() as place:
        for number in rounds(given):
            raced = place.race(
                stacks, concurrency=levels, budget=given.budget, question=given.question, exhaustive=True
            )
            if raced is None or not raced.launches:
                failed += 1
                continue
            rows += compared(number, raced)
            table(f"race {number}: {standing_of(raced).answer}", rows[-2:])
            print(f"  {told(rows)}; {failed} races failed", flush=True)
            write(given.json, {"failed": failed, "rows": rows})


def compared(number: int, raced: Race) -> list[dict[str, object]]:
    """Return what either design would have needed of a race."""
    standing = standing_of(raced)
    rows: list[dict[str, object]] = []
    for name, eliminate in DESIGNS.items():
        one = replay(raced, eliminate=eliminate)
        rows.append(
            {
                "race": number,
                "design": name,
                "settled": one.settled,
                "blocks": one.blocks,
                "launches": one.launches,
                "dropped": one.dropped,
                "minutes": one.seconds / 60,
                "measured": len(standing.rows),
                "winner of all": best(standing) or "none",
            }
        )
    return rows


def told(rows: Sequence[dict[str, object]]) -> str:
    """Say what elimination saved."""
    eliminating, uniform = (
        fmean(float(str(row["minutes"])) for row in rows if row["design"] == name) for name in DESIGNS
    )
    text = f"elimination takes {eliminating / uniform:.0%} of the time of the uniform design"
    if not all(row["settled"] for row in rows):
        text += "; where a question is not settled the time is that of the whole race: give a larger --budget"
    return text


if __name__ == "__main__":
    main()
