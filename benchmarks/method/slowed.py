"""A stack that is slowed by a known amount: in how many races is it found, and after how long?

    python -m benchmarks.method.slowed --races 10 --budget 240 --slower 5 --slower 10

Two stacks are the same server with the same settings; the second tells the app to do more of the work that a page
costs. How much more makes a request 5 % (10 %) dearer is calibrated first: a race of slices in turns, with once and
twice the work, shows what part of a request's CPU time the work is. Four connections keep the server's only worker
at work all the time, so that throughput falls as CPU time per request rises; each race tells how busy its core was,
and the true ratio as its own CPU times have it beside that of the throughputs.

Differences above 2 % matter here, and a race goes on until the pair is told apart or called alike. It is right if
it puts the slowed stack below the other, and wrong if it puts it above, or calls both alike. A decision takes three
launches of each. In simulated races (`simulations --only power`) the slowed stack is found within 7, 10 and 14
launches in so many per cent:

    sd of a launch   slowed by 10 %    by 5 %
    2 %             100, 100, 100      67, 91, 98
    3 %              92, 100, 100      31, 55, 76
    5 %              47,  75,  91      10, 19, 29

Races of all runs are kept and summed up together.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, geometric_mean

from stackrace.measure.launch import Slice
from stackrace.race.results.race import Race
from stackrace.report.merged_standing import standing_of

from ._races import Arena, arena, kept, options, outcome, outcomes, rounds, stolen, table, write
from .shares import interval

SERVER = '''"""gunicorn with an app that is told to do more."""

from dataclasses import replace

from stackrace.stacks.stack import Setting
from stackrace.stacks.servers.gunicorn.server import Gunicorn


MORE = Setting(name="more", default=0, minimum=0, maximum=1000, help="Per mille of work more.")
COPY = Setting(name="copy", default=0, minimum=0, maximum=1, help="It changes nothing.")


class Slowed(Gunicorn):
    spec = replace(
        Gunicorn.spec,
        name="slowed",
        settings=(*Gunicorn.spec.settings, MORE, COPY),
    )

    def recipe(self, site):
        made = super().recipe(site)
        return replace(made, environment={**made.environment, "STACKRACE_MORE": str(site.settings["more"])})


SERVER = Slowed()
'''
MATTERS = 0.02
WORK = 20_000
"""Turns of the loop, about a millisecond: most of a request, yet hundreds of requests in the shortest slice."""

CALIBRATION_S = 90.0
"""Seconds of the race that calibrates: the machine's speed moves by a tenth within a second, so that 5 % take some
dozen slices of each in turns."""


def stack(more: int, copy: int = 0) -> str:
    """Return the stack that does ``more`` per mille of work more; its ``copy`` is the same under another name."""
    return f"slowed:workers=1,class=gthread,threads=4,more={more},copy={copy}"


def installed(folder: Path) -> str:
    """Write the server into a folder of servers below ``folder``; return it."""
    servers = folder / "servers"
    (servers / "slowed").mkdir(parents=True)
    (servers / "slowed" / "server.py").write_text(SERVER, encoding="utf-8")
    return str(servers)


def slices(raced: Race, path: str) -> list[Slice]:
    """Return all slices of a stack: a disturbance lengthens them, but hardly the CPU time of a request."""
    return [one for launch in raced.launches if launch.stack == path for one in launch.slices]


def cost(found: Sequence[Slice]) -> float:
    """Return the CPU seconds per right answer, the geometric mean over slices; 0 where there is none.

    What a slow moment costs is then counted once for each slice, and not by how many requests it slowed.
    """
    costs = [one.cpu_s / one.result.counts.ok for one in found if one.result.counts.ok]
    return geometric_mean(costs) if costs else 0.0


def part_of_work(place: Arena, servers: str) -> float:
    """Return what twice the work adds to the CPU time of a request, as a share of it."""
    raced = place.race([stack(0), stack(1000)], budget=CALIBRATION_S, servers=servers, exhaustive=True)
    costs = [cost(slices(raced, stack(more))) for more in (0, 1000)] if raced else [0.0, 0.0]
    if not 0 < costs[0] < costs[1]:
        raise SystemExit(f"work could not be calibrated: {costs[0]} and {costs[1]} s of CPU for a request")
    return costs[1] / costs[0] - 1


def one_race(place: Arena, percent: float, more: int, servers: str, seconds: float) -> dict[str, object]:
    """Race the slowed stack, which does ``more`` per mille of work more, and say what came of it."""
    plain, slowed = stack(0), stack(more)
    raced = place.race([plain, slowed], budget=seconds, servers=servers, question="ranking", difference=MATTERS)
    standing = None if raced is None else standing_of(raced)
    came = outcome(raced, standing)
    told: dict[str, object] = {"slowed by": f"{percent:g} %", "outcome": came}
    if raced is None or standing is None or came == "refused":
        nothing = dict.fromkeys(("true", "seen", "core busy", "found", "wrong", "alike", "blocks"))
        return {**told, **nothing, "elapsed s": raced.elapsed_s if raced else None, "resolution": None}
    rows, believed = {row.stack: row for row in standing.rows}, came == "measured"
    own = slices(raced, plain)
    return {
        **told,
        "true": cost(slices(raced, slowed)) / cost(own) - 1,
        "seen": rows[plain].throughput_per_s.value / rows[slowed].throughput_per_s.value - 1,
        "core busy": sum(one.cpu_s for one in own) / sum(one.result.duration_s for one in own),
        "found": believed and rows[slowed].rank[0] > 1,
        "wrong": believed and rows[plain].rank[0] > 1,
        "alike": believed and standing.settled and rows[slowed].rank[0] == 1 and rows[plain].rank[0] == 1,
        "blocks": max(row.launches for row in standing.rows),
        "elapsed s": raced.elapsed_s,
        "resolution": standing.resolution,
    }


def main() -> None:
    """Run the races and print how often the slowed stack was found."""
    parser = options("slowed", __doc__ or "", races=10, seconds=240.0)
    parser.add_argument("--slower", type=float, action="append", help="per cent, again for more; 5 and 10")
    given = parser.parse_args()
    amounts = given.slower or [5.0, 10.0]
    seen = kept(given)
    found = seen.rows
    with arena(WORK) as place:
        servers = installed(place.folder)
        part = part_of_work(place, servers)
        more = {amount: round(10 * amount / part) for amount in amounts}
        print(f"the work is {part:.1%} of a request; more of it, in per mille, for each per cent: {more}")
        if max(more.values()) > 1000:
            raise SystemExit("not even twice the work slows a request by so much")
        for number in rounds(given, len(amounts)):
            for amount in amounts:
                with stolen() as share:
                    row = one_race(place, amount, more[amount], servers, given.budget)
                seen.add({"budget": given.budget, "stolen": share(), **row})
                table(f"race {number} of {given.races}", found[-1:])
                summary = [row for each in amounts if (row := summed(each, found))]
                write(given.json, {"work": part, "more": more, "summary": summary, "races": found})
            table(f"a stack slowed by a known amount, {len(found)} races of all runs", summary)


def summed(percent: float, found: Sequence[dict[str, object]]) -> dict[str, object]:
    """Return what came of all races with one amount, nothing before the first."""
    own = [one for one in found if one["slowed by"] == f"{percent:g} %"]
    if not own:
        return {}
    measured = [one for one in own if one["outcome"] == "measured"]
    hits = [one for one in measured if one["found"]]
    low, high = interval(len(hits), len(measured))
    return {
        "slowed by": f"{percent:g} %",
        "true": _mean(own, "true"),
        "seen": _mean(own, "seen"),
        **outcomes(own),
        "found": len(hits),
        "limits": f"{low:.0%}–{high:.0%}",
        "called alike": sum(bool(one["alike"]) for one in measured),
        "wrong way": sum(bool(one["wrong"]) for one in measured),
        "mean s to tell": _mean(hits, "elapsed s"),
    }


def _mean(found: Sequence[dict[str, object]], column: str) -> float | None:
    known = [float(str(one[column])) for one in found if one[column] is not None]
    return fmean(known) if known else None


if __name__ == "__main__":
    main()
