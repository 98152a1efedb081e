"""How long until the winner is known: twelve stacks at four load levels, raced until they answer.

    python -m benchmarks.method.time_to_winner --races 1 --budget 900

Beaten stacks leave on the way. What that saves is told by the launches: a design that races all stacks to the end
would have launched each of them in every block. Races of all runs are kept and summed up together.
"""

from __future__ import annotations

from statistics import median

from stackrace.race.results.race import Race
from stackrace.report.result import standing_of
from stackrace.report.words.standing import words_of

from ._races import arena, kept, options, outcome, outcomes, rounds, stolen, table, write

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


def described(raced: Race | None) -> dict[str, object]:
    """Return what came of a race, and what it took."""
    standing = None if raced is None else standing_of(raced)
    came = outcome(raced, standing)
    if raced is None or standing is None:
        return {"outcome": came}
    blocks = len({one.block for one in raced.launches})
    return {
        "outcome": came,
        "result": standing.answer.kind.value,
        "first": standing.answer.stacks[0] if standing.answer.stacks else None,
        "answer": words_of(raced, standing).answer,
        "minutes": raced.elapsed_s / 60,
        "blocks": blocks,
        "launches": len(raced.launches),
        "of uniform": len(raced.launches) / max(blocks * len(raced.stacks), 1),
        "settled": standing.settled,
    }


def main() -> None:
    """Run the races and print what they took."""
    parser = options("time_to_winner", __doc__ or "", races=1, seconds=900.0)
    parser.add_argument("--stack", action="append", help="a stack, again for more; twelve of Python's by default")
    parser.add_argument(
        "-c", "--concurrency", type=int, action="append", help="a level, again for more; 1, 4, 16, 64"
    )
    given = parser.parse_args()
    stacks, levels = given.stack or STACKS, given.concurrency or LEVELS
    print(f"{len(stacks)} stacks at {len(levels)} levels", flush=True)
    seen = kept(given)
    with arena() as place:
        for number in rounds(given):
            with stolen() as share:
                raced = place.race(stacks, concurrency=levels, budget=given.budget, twin=True)
            seen.add({"stacks": len(stacks), "levels": len(levels), "stolen": share(), **described(raced)})
            table(f"race {number}", [{k: v for k, v in seen.rows[-1].items() if k not in ("at", "answer")}])
            print(f"  {seen.rows[-1].get('answer', '')}\n  {told(seen.rows)}", flush=True)
            write(given.json, {"outcomes": outcomes(seen.rows), "races": seen.rows})


def told(rows: list[dict[str, object]]) -> str:
    """Say how many races answered, and how soon."""
    known = [row for row in rows if row["outcome"] == "measured"]
    minutes = [float(str(row["minutes"])) for row in known if row["settled"]]
    within = f", in {median(minutes):.1f} min in the median" if minutes else ""
    return f"{len(minutes)} of {len(known)} races of all runs have an answer{within}"


if __name__ == "__main__":
    main()
