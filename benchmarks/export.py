"""Are exported files as good as what was raced? Stacks exported, started as they are, raced against the original.

    python -m benchmarks.export                   every stack below, about four minutes each
    python -m benchmarks.export --quick           only start, ask and stop them: some seconds each
    python -m benchmarks.export --stack uwsgi --budget 10min

Each result is kept at once, in ``export-proofs.jsonl`` below --folder: run again, it goes on with what is missing,
and --again begins anew. The app is the bundled one. The machine should have nothing else to do, but for --quick.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from stackrace.deploy.sockets import free_port
from stackrace.race.preparation.defaults import MOST_STACKS, STACKS

from .method._kept import Kept

DEFAULT_RACE = STACKS[:MOST_STACKS]
OTHERS = (
    "granian",
    "waitress",
    "nginx/http/apache+mod_wsgi",
    "cheroot",
    "granian:interface=asgi",
    "hypercorn",
    "gunicorn:class=uvicorn",
    "daphne",
    "nginx/fastcgi/flup",
    "lighttpd/fastcgi/flup",
    "haproxy/http/gunicorn",
    "caddy/http/uvicorn",
    "h2o/http/gunicorn",
    "apache+passenger",
    "nginx/http/cheroot:instances=3",
    "nginx/http/uvicorn",
)


def proof_of(stack: str, budget: str, difference: str, *, quick: bool) -> dict[str, object]:
    """Export and prove ``stack``; returns its document, with what went wrong under ``failed``."""
    with tempfile.TemporaryDirectory(prefix="stackrace-export-") as folder:
        command = [
            str(Path(sys.executable).with_name("stackrace")), "export", stack, "--bundled",
            "--to", f"{folder}/deploy", "--listen", f"127.0.0.1:{free_port()}", "--prove", "--json",
            "--store", f"sqlite:///{folder}/races.sqlite3",
            *(["--start-only"] if quick else ["--budget", budget, "--difference", difference]),
        ]  # fmt: skip
        begun_s = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        took_s = round(time.monotonic() - begun_s, 1)
    document = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    failed = "" if document else (done.stderr.strip().splitlines() or ["no word"])[-1]
    return {
        "stack": stack,
        "quick": quick,
        "exit_code": done.returncode,
        "took_s": took_s,
        "failed": failed,
        "proof": document.get("proof"),
    }


def row(result: Mapping[str, object]) -> str:
    """Return a line of the table."""
    proof = result["proof"]
    if not isinstance(proof, dict):
        return f"| `{result['stack']}` | fails | {result['failed']} | |"
    ratio = proof["ratio"]
    figure = "" if ratio is None else f"{ratio['value']:.3f} ({ratio['low']:.3f}–{ratio['high']:.3f})"
    verdict = proof["verdict"] or "starts, answers, stops"
    return f"| `{result['stack']}` | {verdict} | {figure} | {proof['blocks'] or ''} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove all, and print the table; 1 where one fails or differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stack", action="append", help="only this one; repeat it for more")
    parser.add_argument("--budget", default="4min", help="of each race")
    parser.add_argument("--difference", default="5%", help="in throughput that does not matter")
    parser.add_argument("--quick", action="store_true", help="race nothing")
    parser.add_argument("--again", action="store_true", help="forget what was proven before")
    parser.add_argument("--folder", type=Path, default=Path(), help="where results are kept")
    asked = parser.parse_args(arguments)
    seen = Kept(asked.folder / "export-proofs.jsonl")
    earlier = [] if asked.again else seen.rows
    results = {result["stack"]: result for result in earlier if result["quick"] == asked.quick and result["proof"]}
    stacks = asked.stack or [*DEFAULT_RACE, *OTHERS]
    for number, stack in enumerate(stacks, 1):
        if stack not in results:
            sys.stderr.write(f"{number} of {len(stacks)}: {stack}\n")
            results[stack] = proof_of(stack, asked.budget, asked.difference, quick=asked.quick)
            seen.add(results[stack])
    rows = [row(results[stack]) for stack in stacks]
    print("\n".join(["| stack | verdict | exported / original, limits | blocks |", "|:--|:--|--:|--:|", *rows]))
    return int(any(results[stack]["exit_code"] for stack in stacks))


if __name__ == "__main__":
    sys.exit(main())
