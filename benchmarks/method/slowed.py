"""A stack that is slowed by a known amount: in how many races is it found, and after how long?

    python benchmarks/method/slowed.py --races 10 --budget 120 --more 5 --more 10

Two stacks are the same server with the same settings; the second tells the app to do 5 % (10 %) more of the work
that a page costs. What that comes to for a whole request is measured in each race: the ratio of the CPU times per
request. Differences above 2 % matter here, and the race goes on until the pair is told apart or called alike. It
is right if it puts the slowed stack below the other, and wrong if it puts it above, or calls both alike.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from _races import Arena, arena, budget, interval, options, table, write

from stackrace.model.race import Race

SERVER = '''"""gunicorn with an app that is told to do more."""

from dataclasses import replace

from stackrace.model.stack import Setting
from stackrace.servers.gunicorn.server import Gunicorn


MORE = Setting(name="more", default=5, minimum=0, maximum=100, help="Percent of work more.")


class Slowed(Gunicorn):
    spec = replace(
        Gunicorn.spec,
        name="slowed",
        settings=(*Gunicorn.spec.settings, MORE),
    )

    def recipe(self, site):
        made = super().recipe(site)
        return replace(made, environment={**made.environment, "STACKRACE_MORE": str(site.settings["more"])})


SERVER = Slowed()
'''
SETTINGS = "workers=1,class=gthread,threads=4"
PLAIN = f"slowed:{SETTINGS},more=0"
"""The other stack is the same entry, too: nothing but the number differs."""

MATTERS = 0.02
WORK = 100_000
"""Turns of the loop: some milliseconds of work, beside which the server's own part is small."""


def true_ratio(raced: Race) -> float:
    """Return the CPU time per request of the second stack, as a multiple of the first one's."""
    costs = []
    for stack in raced.stacks:
        slices = [one for launch in raced.launches if launch.stack == stack for one in launch.slices]
        costs.append(sum(one.cpu_s for one in slices) / max(sum(one.result.counts.ok for one in slices), 1))
    return costs[1] / costs[0]


def one_race(place: Arena, more: int, servers: Path, seconds: float) -> dict[str, object]:
    """Race the slowed stack against the other and say what came of it."""
    slowed = f"slowed:{SETTINGS},more={more}"
    raced = place.race(
        [PLAIN, slowed], budget=seconds, servers=str(servers), question="ranking", difference=MATTERS
    )
    standing = place.standing(raced)
    rows = {row.stack: row for row in standing.rows}
    measured = len(rows) == 2
    return {
        "more work": f"{more} %",
        "slower by": true_ratio(raced) - 1 if measured else None,
        "seen": 1 - rows[slowed].throughput_per_s.value / rows[PLAIN].throughput_per_s.value if measured else None,
        "found": measured and rows[slowed].rank[0] > 1,
        "wrong": measured and rows[PLAIN].rank[0] > 1,
        "alike": measured and standing.settled and rows[slowed].rank[0] == 1 and rows[PLAIN].rank[0] == 1,
        "blocks": max((row.launches for row in standing.rows), default=0),
        "elapsed s": raced.elapsed_s,
        "resolution": standing.resolution,
    }


def main() -> None:
    """Run the races and print how often the slowed stack was found."""
    parser = options(__doc__ or "", races=10, seconds=120.0)
    parser.add_argument("--more", type=int, action="append", help="percent more work, again for more; 5 and 10")
    given = parser.parse_args()
    print(f"{budget(given)} for each slowing")
    kept, summary = [], []
    with arena(WORK) as place:
        servers = place.folder / "servers"
        (servers / "slowed").mkdir(parents=True)
        (servers / "slowed" / "server.py").write_text(SERVER, encoding="utf-8")
        for more in given.more or [5, 10]:
            found = []
            for number in range(given.races):
                found.append(one_race(place, more, servers, given.budget))
                table(f"race {number + 1} of {given.races}", found[-1:])
            kept += found
            summary.append(_row(more, found))
    table("a stack slowed by a known amount", summary)
    write(given.json, {"summary": summary, "races": kept})


def _row(more: int, found: list[dict[str, object]]) -> dict[str, object]:
    hits = sum(bool(one["found"]) for one in found)
    low, high = interval(hits, len(found))
    times = [float(str(one["elapsed s"])) for one in found if one["found"]]
    truth = [float(str(one["slower by"])) for one in found if one["slower by"] is not None]
    return {
        "more work": f"{more} %",
        "CPU per request": f"+{fmean(truth):.1%}" if truth else None,
        "races": len(found),
        "found": hits,
        "limits": f"{low:.0%}–{high:.0%}",
        "called alike": sum(bool(one["alike"]) for one in found),
        "wrong way": sum(bool(one["wrong"]) for one in found),
        "mean time to tell, s": fmean(times) if times else None,
    }


if __name__ == "__main__":
    main()
